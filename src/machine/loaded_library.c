/* Symbols of libraries that MPI has loaded into this process. Kernels do not link against them. */
#include "loaded_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

struct search {
    const char *library;
    char path[PATH_MAX]; /* empty: not found */
};

/* Other libraries have longer names, such as libucs_signal.so.0. */
static int is_searched(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = data;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *file = slash != NULL ? slash + 1 : object->dlpi_name;
    const size_t length = strlen(search->library);
    (void)size;
    if (strncmp(file, search->library, length) != 0 ||
        (file[length] != '.' && file[length] != '-') ||
        strlen(object->dlpi_name) >= sizeof search->path) {
        return 0;
    }
    snprintf(search->path, sizeof search->path, "%s", object->dlpi_name);
    return 1;
}

/* The library stays loaded: this process uses it. */
static void *symbol_of_file(const char *path, const char *symbol)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) {
        return NULL;
    }
    void *found = dlsym(library, symbol);
    dlclose(library);
    return found;
}

void *loaded_symbol(const char *library, const char *symbol)
{
    struct search search = {.library = library};
    dl_iterate_phdr(is_searched, &search);
    void *found = search.path[0] != '\0' ? symbol_of_file(search.path, symbol) : NULL;
    return found != NULL ? found : dlsym(RTLD_DEFAULT, symbol);
}

void *symbol_behind_ours(const void *caller, const char *symbol)
{
    void *found = dlsym(RTLD_NEXT, symbol);
    return found != NULL ? found : symbol_beside(caller, symbol);
}

void *symbol_beside(const void *address, const char *symbol)
{
    Dl_info object;
    if (address == NULL || dladdr(address, &object) == 0 || object.dli_fname == NULL) {
        return NULL;
    }
    return symbol_of_file(object.dli_fname, symbol);
}

function *as_function(void *symbol)
{
    union {
        void *data;
        function *code;
    } address = {.data = symbol};
    return address.code;
}
