/* The machine's sockets, cores, caches and memory, as hwloc sees them, and this rank's place in it.
 */
#include "topology.h"

#ifdef SWITCHPOINT_HWLOC
#include <hwloc.h>

static void write_machine(struct json *json, hwloc_topology_t topology);
static void write_caches(struct json *json, hwloc_topology_t topology);
static void write_place(struct json *json, hwloc_topology_t topology);

void topology_write(struct json *json, const char *key)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) {
        json_string(json, key, NULL);
        return;
    }
    /* Also what this process may not use: siblings and sockets of others matter too. */
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) == 0) {
        json_open(json, key, '{');
        write_machine(json, topology);
        write_caches(json, topology);
        write_place(json, topology);
        json_close(json, '}');
    } else {
        json_string(json, key, NULL);
    }
    hwloc_topology_destroy(topology);
}

static void write_machine(struct json *json, hwloc_topology_t topology)
{
    static const struct {
        const char *key;
        hwloc_obj_type_t type;
    } COUNTED[] = {{"sockets", HWLOC_OBJ_PACKAGE},
                   {"numa_nodes", HWLOC_OBJ_NUMANODE},
                   {"cores", HWLOC_OBJ_CORE},
                   {"hardware_threads", HWLOC_OBJ_PU}};
    for (size_t i = 0; i < sizeof COUNTED / sizeof *COUNTED; i++) {
        json_integer(json, COUNTED[i].key, hwloc_get_nbobjs_by_type(topology, COUNTED[i].type));
    }
}

static const char *cache_type(hwloc_obj_cache_type_t type)
{
    if (type == HWLOC_OBJ_CACHE_UNIFIED) {
        return "unified";
    }
    return type == HWLOC_OBJ_CACHE_DATA ? "data" : "instruction";
}

/* One entry for all equal caches; the first one stands for them. */
static void write_caches(struct json *json, hwloc_topology_t topology)
{
    json_open(json, "caches", '[');
    for (hwloc_obj_type_t type = HWLOC_OBJ_L1CACHE; hwloc_obj_type_is_cache(type); type++) {
        hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
        if (cache != NULL) {
            json_open(json, NULL, '{');
            json_integer(json, "level", cache->attr->cache.depth);
            json_string(json, "type", cache_type(cache->attr->cache.type));
            json_integer(json, "size_bytes", (int64_t)cache->attr->cache.size);
            json_integer(json, "line_bytes", cache->attr->cache.linesize);
            json_integer(json, "count", hwloc_get_nbobjs_by_type(topology, type));
            json_integer(json, "hardware_threads", hwloc_bitmap_weight(cache->cpuset));
            json_close(json, '}');
        }
    }
    json_close(json, ']');
}

static void write_numbers(struct json *json, const char *key, hwloc_const_bitmap_t numbers)
{
    json_open(json, key, '[');
    for (int number = hwloc_bitmap_first(numbers); number >= 0;
         number = hwloc_bitmap_next(numbers, number)) {
        json_integer(json, NULL, number);
    }
    json_close(json, ']');
}

/* The numbers, as the operating system has them, of the objects that hold any of the CPUs. */
static void write_holding(struct json *json, const char *key, hwloc_topology_t topology,
                          hwloc_obj_type_t type, hwloc_const_cpuset_t cpus)
{
    hwloc_bitmap_t numbers = hwloc_bitmap_alloc();
    for (hwloc_obj_t object = NULL;
         (object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL;) {
        if (hwloc_bitmap_intersects(object->cpuset, cpus)) {
            hwloc_bitmap_set(numbers, object->os_index);
        }
    }
    write_numbers(json, key, numbers);
    hwloc_bitmap_free(numbers);
}

/* Where the CPUs are that this process may use, and which other hardware threads share their cores.
 */
static void write_place(struct json *json, hwloc_topology_t topology)
{
    hwloc_cpuset_t allowed = hwloc_bitmap_alloc();
    hwloc_cpuset_t siblings = hwloc_bitmap_alloc();
    hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS);
    for (hwloc_obj_t core = NULL;
         (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != NULL;) {
        if (hwloc_bitmap_intersects(core->cpuset, allowed)) {
            hwloc_bitmap_or(siblings, siblings, core->cpuset);
        }
    }
    hwloc_bitmap_andnot(siblings, siblings, allowed);
    write_holding(json, "rank_sockets", topology, HWLOC_OBJ_PACKAGE, allowed);
    write_holding(json, "rank_numa_nodes", topology, HWLOC_OBJ_NUMANODE, allowed);
    write_numbers(json, "smt_siblings", siblings);
    hwloc_bitmap_free(siblings);
    hwloc_bitmap_free(allowed);
}
#else
void topology_write(struct json *json, const char *key)
{
    json_string(json, key, NULL);
}
#endif
