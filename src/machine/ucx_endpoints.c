/* The endpoints of UCX through which this rank reaches others. UCX lists them for nobody, so some
 * of its functions lead through this program, which notes what they open and close. CMake exports
 * them (exported_symbols). A function does what it always did before or after that. */
#include "ucx_endpoints.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaded_library.h"
#include "memory.h"
#include "ucx_endpoint_text.h"

/* UCX's opaque types are pointers: ucp_worker_h, ucp_ep_h, and ucs_status_ptr_t. */
int ucp_ep_create(void *worker, const void *parameters, void **endpoint);
void ucp_ep_destroy(void *endpoint);
void *ucp_disconnect_nb(void *endpoint);
void *ucp_ep_close_nb(void *endpoint, unsigned mode);
void *ucp_ep_close_nbx(void *endpoint, const void *parameters);
void ucp_worker_destroy(void *worker);

typedef int create(void *worker, const void *parameters, void **endpoint);
typedef void destroy(void *endpoint_or_worker);
typedef void *disconnect(void *endpoint);
typedef void *close_with_mode(void *endpoint, unsigned mode);
typedef void *close_with_parameters(void *endpoint, const void *parameters);
typedef void print_endpoint(void *endpoint, FILE *stream);

static const int UNSUPPORTED = -22; /* UCS_ERR_UNSUPPORTED */

struct endpoint {
    void *handle;
    void *worker;
    print_endpoint *print; /* of the same library */
};

static struct {
    pthread_mutex_t lock;
    struct endpoint *list;
    size_t count;
    size_t capacity;
} open_endpoints = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* An endpoint for which there is no memory is not noted. */
static void note(struct endpoint endpoint)
{
    pthread_mutex_lock(&open_endpoints.lock);
    if (open_endpoints.count == open_endpoints.capacity) {
        const size_t capacity = 2 * open_endpoints.capacity + 16;
        struct endpoint *list = realloc(open_endpoints.list, capacity * sizeof *list);
        if (list != NULL) {
            open_endpoints.list = list;
            open_endpoints.capacity = capacity;
        }
    }
    if (open_endpoints.count < open_endpoints.capacity) {
        open_endpoints.list[open_endpoints.count++] = endpoint;
    }
    pthread_mutex_unlock(&open_endpoints.lock);
}

/* One endpoint, or all of a worker: the other is NULL. */
static void forget(const void *handle, const void *worker)
{
    pthread_mutex_lock(&open_endpoints.lock);
    size_t kept = 0;
    for (size_t i = 0; i < open_endpoints.count; i++) {
        const struct endpoint *endpoint = &open_endpoints.list[i];
        if (endpoint->handle != handle && endpoint->worker != worker) {
            open_endpoints.list[kept++] = *endpoint;
        }
    }
    open_endpoints.count = kept;
    pthread_mutex_unlock(&open_endpoints.lock);
}

int ucp_ep_create(void *worker, const void *parameters, void **endpoint)
{
    void *symbol = symbol_behind_ours(__builtin_return_address(0), "ucp_ep_create");
    if (symbol == NULL) {
        return UNSUPPORTED;
    }
    const int status = ((create *)as_function(symbol))(worker, parameters, endpoint);
    print_endpoint *print =
        (print_endpoint *)as_function(symbol_beside(symbol, "ucp_ep_print_info"));
    if (status == 0 && print != NULL) {
        note((struct endpoint){.handle = *endpoint, .worker = worker, .print = print});
    }
    return status;
}

void ucp_ep_destroy(void *endpoint)
{
    void *symbol = symbol_behind_ours(__builtin_return_address(0), "ucp_ep_destroy");
    forget(endpoint, NULL);
    if (symbol != NULL) {
        ((destroy *)as_function(symbol))(endpoint);
    }
}

void *ucp_disconnect_nb(void *endpoint)
{
    void *symbol = symbol_behind_ours(__builtin_return_address(0), "ucp_disconnect_nb");
    forget(endpoint, NULL);
    return symbol != NULL ? ((disconnect *)as_function(symbol))(endpoint) : NULL;
}

void *ucp_ep_close_nb(void *endpoint, unsigned mode)
{
    void *symbol = symbol_behind_ours(__builtin_return_address(0), "ucp_ep_close_nb");
    forget(endpoint, NULL);
    return symbol != NULL ? ((close_with_mode *)as_function(symbol))(endpoint, mode) : NULL;
}

void *ucp_ep_close_nbx(void *endpoint, const void *parameters)
{
    void *symbol = symbol_behind_ours(__builtin_return_address(0), "ucp_ep_close_nbx");
    forget(endpoint, NULL);
    return symbol != NULL ? ((close_with_parameters *)as_function(symbol))(endpoint, parameters)
                          : NULL;
}

void ucp_worker_destroy(void *worker)
{
    void *symbol = symbol_behind_ours(__builtin_return_address(0), "ucp_worker_destroy");
    forget(NULL, worker);
    if (symbol != NULL) {
        ((destroy *)as_function(symbol))(worker);
    }
}

bool ucx_has_endpoints(void)
{
    pthread_mutex_lock(&open_endpoints.lock);
    const bool any = open_endpoints.count > 0;
    pthread_mutex_unlock(&open_endpoints.lock);
    return any;
}

/* What the record says of some endpoints, and how many they are. */
struct description {
    struct json object;
    int64_t count;
};

/* False for an endpoint to itself, or without memory. */
static bool describe(struct json *object, const struct endpoint *endpoint)
{
    char *printed = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&printed, &length);
    if (stream == NULL) {
        return false;
    }
    endpoint->print(endpoint->handle, stream);
    fclose(stream);
    const bool to_others = printed != NULL && ucx_endpoint_describe(object, printed);
    free(printed);
    return to_others;
}

/* The number of different descriptions. Most endpoints of a large job have the same. */
static size_t describe_all(struct description *descriptions)
{
    size_t different = 0;
    for (size_t i = 0; i < open_endpoints.count; i++) {
        struct json object = {0};
        size_t same = 0;
        if (!describe(&object, &open_endpoints.list[i])) {
            json_free(&object);
            continue;
        }
        while (same < different && strcmp(descriptions[same].object.text, object.text) != 0) {
            same++;
        }
        if (same == different) {
            descriptions[different++].object = object;
        } else {
            json_free(&object);
        }
        descriptions[same].count++;
    }
    return different;
}

void ucx_endpoints_write(struct json *json, const char *key)
{
    pthread_mutex_lock(&open_endpoints.lock);
    struct description *descriptions = allocate(open_endpoints.count + 1, sizeof *descriptions);
    const size_t different = describe_all(descriptions);
    pthread_mutex_unlock(&open_endpoints.lock);
    json_open(json, key, '[');
    for (size_t i = 0; i < different; i++) {
        struct json *object = &descriptions[i].object;
        json_integer(object, "count", descriptions[i].count);
        json_close(object, '}');
        json_raw(json, NULL, object->text);
        json_free(object);
    }
    json_close(json, ']');
    free(descriptions);
}
