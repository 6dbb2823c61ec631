/* Which components Open MPI has selected for messages between two ranks: read from its variables
 * that hold the selection. MPI_T does not show it: Open MPI 5 shows the variables of components
 * that it has not selected as well, and `pml` is empty unless the user has chosen one.
 *
 * The structures are those of Open MPI 2 to 5. Each is recognised by what it contains before
 * anything in it is used. */
#include "openmpi_components.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "loaded_library.h"

/* The beginning of mca_base_component_2_1_0_t (opal/mca/mca.h). */
struct component {
    int mca_version[3];
    char project_name[16];
    int project_version[3];
    char type_name[32];
    int type_version[3];
    char name[64];
};

/* Objects and lists in builds without OPAL_ENABLE_DEBUG (opal/class/opal_list.h); builds with it
 * have no class at the beginning of an object. */
struct object {
    const void *class;
    int32_t references;
};

struct item {
    struct object object;
    struct item *next;
    struct item *previous;
    int32_t is_free;
};

struct list {
    struct object object;
    struct item sentinel;
    size_t length;
};

/* mca_btl_base_selected_module_t (opal/mca/btl/base/base.h). */
struct selected_module {
    struct item item;
    const struct component *component;
};

enum { COMPONENTS_MAX = 32 };

/* The component's name; NULL where this is not the structure of a component of this framework. */
static const char *name_of(const struct component *component, const char *framework)
{
    const bool known = component != NULL && component->mca_version[0] == 2 &&
                       component->mca_version[1] == 1 &&
                       memchr(component->type_name, '\0', sizeof component->type_name) != NULL &&
                       strcmp(component->type_name, framework) == 0 &&
                       memchr(component->name, '\0', sizeof component->name) != NULL;
    return known ? component->name : NULL;
}

static void write_one(struct json *json, const char *framework, const char *name)
{
    json_open(json, framework, '[');
    if (name != NULL) {
        json_string(json, NULL, name);
    }
    json_close(json, ']');
}

static const char *mtl_name(void)
{
    const struct component *const *selected =
        loaded_symbol("libmpi", "ompi_mtl_base_selected_component");
    return selected != NULL ? name_of(*selected, "mtl") : NULL;
}

/* Keeps names in order and once: a transport has a module for each of its devices. */
static size_t insert(const char *names[COMPONENTS_MAX], size_t count, const char *name)
{
    size_t at = 0;
    while (at < count && strcmp(names[at], name) < 0) {
        at++;
    }
    if ((at < count && strcmp(names[at], name) == 0) || count == COMPONENTS_MAX) {
        return count;
    }
    memmove(&names[at + 1], &names[at], (count - at) * sizeof names[0]);
    names[at] = name;
    return count + 1;
}

/* Those that could be used here, of which each pair of ranks uses the best that reaches both. False
 * where the list is not as we know it. */
static bool btl_names(const char *names[COMPONENTS_MAX], size_t *count)
{
    const struct list *list = loaded_symbol("libmpi", "mca_btl_base_modules_initialized");
    const void *list_class = loaded_symbol("libmpi", "opal_list_t_class");
    const void *module_class = loaded_symbol("libmpi", "mca_btl_base_selected_module_t_class");
    *count = 0;
    if (list == NULL || list_class == NULL || list->object.class != list_class) {
        return false;
    }
    const struct item *item = list->sentinel.next;
    for (size_t i = 0; i < list->length && item != NULL && item->object.class == module_class;
         i++) {
        const char *name = name_of(((const struct selected_module *)item)->component, "btl");
        if (name != NULL) {
            *count = insert(names, *count, name);
        }
        item = item->next;
    }
    return true;
}

/* A transport of its own replaces the BTLs. */
static void write_btls(struct json *json, bool in_use)
{
    const char *names[COMPONENTS_MAX];
    size_t count = 0;
    if (in_use && !btl_names(names, &count)) {
        return;
    }
    json_open(json, "btl", '[');
    for (size_t i = 0; i < count; i++) {
        json_string(json, NULL, names[i]);
    }
    json_close(json, ']');
}

void openmpi_components_write(struct json *json, const char *key)
{
    const char *pml = name_of(loaded_symbol("libmpi", "mca_pml_base_selected_component"), "pml");
    json_open(json, key, '{');
    if (pml != NULL) {
        const bool through_mtl = strcmp(pml, "cm") == 0;
        write_one(json, "pml", pml);
        write_one(json, "mtl", through_mtl ? mtl_name() : NULL);
        write_btls(json, !through_mtl && strcmp(pml, "ucx") != 0);
    }
    json_close(json, '}');
}
