/* The current conditions on this rank's machine: load, stolen time, context switches, traffic. */
#include "conditions.h"

#include <glob.h>
#include <limits.h>
#include <math.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core_times.h"
#include "socket_bytes.h"
#include "switches.h"
#include "system_files.h"

static void write_ticks(struct json *json);
static void write_switches(struct json *json);
static void write_tcp(struct json *json);
static void write_cpu(struct json *json);
static void write_network_devices(struct json *json);
static void write_infiniband_ports(struct json *json);

void conditions_write(struct json *json, const char *key)
{
    json_open(json, key, '{');
    char load[128];
    if (system_line("/proc/loadavg", "", load, sizeof load)) {
        json_number(json, "load1", strtod(load, NULL));
    }
    write_ticks(json);
    write_switches(json);
    core_times_write(json);
    write_tcp(json);
    socket_bytes_write(json);
    write_cpu(json);
    json_open(json, "interfaces", '[');
    write_network_devices(json);
    write_infiniband_ports(json);
    json_close(json, ']');
    json_close(json, '}');
}

/* proc(5): cpu user nice system idle iowait irq softirq steal ... */
static void write_ticks(struct json *json)
{
    enum { SOFTIRQ = 6, STEAL = 7, FIELDS = 8 };
    char line[512];
    if (!system_line("/proc/stat", "cpu ", line, sizeof line)) {
        return;
    }
    long long ticks[FIELDS] = {0};
    char *field = line + strlen("cpu ");
    for (int i = 0; i < FIELDS; i++) {
        ticks[i] = strtoll(field, &field, 10);
    }
    json_integer(json, "steal_ticks", ticks[STEAL]);
    json_integer(json, "softirq_ticks", ticks[SOFTIRQ]);
}

static void write_switches(struct json *json)
{
    const struct switches switches = switches_now();
    json_integer(json, "voluntary_switches", switches.voluntary);
    json_integer(json, "involuntary_switches", switches.involuntary);
}

/* Of this process's network namespace. proc_net_snmp(5): two lines begin with "Tcp:", the names of
 * the columns and their values. */
static void write_tcp(struct json *json)
{
    static const char SEPARATORS[] = " \n";
    static const struct {
        const char *column;
        const char *key;
    } COUNTERS[] = {{"OutSegs", "tcp_segments"}, {"RetransSegs", "tcp_retransmissions"}};
    char names[1024] = "";
    char values[1024] = "";
    FILE *statistics = fopen("/proc/net/snmp", "re");
    if (statistics == NULL) {
        return;
    }
    while (strncmp(names, "Tcp:", 4) != 0 && fgets(names, sizeof names, statistics) != NULL) {
    }
    const bool found = fgets(values, sizeof values, statistics) != NULL;
    fclose(statistics);
    if (!found) {
        return;
    }
    char *rest_of_names = NULL;
    char *rest_of_values = NULL;
    const char *name = strtok_r(names, SEPARATORS, &rest_of_names);
    const char *value = strtok_r(values, SEPARATORS, &rest_of_values);
    while (name != NULL && value != NULL) {
        for (size_t i = 0; i < sizeof COUNTERS / sizeof *COUNTERS; i++) {
            if (strcmp(name, COUNTERS[i].column) == 0) {
                json_integer(json, COUNTERS[i].key, strtoll(value, NULL, 10));
            }
        }
        name = strtok_r(NULL, SEPARATORS, &rest_of_names);
        value = strtok_r(NULL, SEPARATORS, &rest_of_values);
    }
}

static void write_cpu(struct json *json)
{
    const int cpu = sched_getcpu();
    char path[128];
    char khz[64];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
    if (system_line(path, "", khz, sizeof khz)) {
        json_integer(json, "cpu_khz", strtoll(khz, NULL, 10));
    } else {
        json_string(json, "cpu_khz", NULL);
    }
    json_integer(json, "cpu", cpu);
}

static int interface_mtu(int socket_fd, const char *name)
{
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    return ioctl(socket_fd, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : -1;
}

/* Null where a device has none or does not report it: then the file has a negative number, or
 * cannot be read. */
static void write_fact(struct json *json, const char *key, const char *folder, const char *file)
{
    char path[PATH_MAX + 64];
    char text[64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    const bool known = system_line(path, "", text, sizeof text) && strtol(text, NULL, 10) >= 0;
    if (known) {
        json_integer(json, key, strtol(text, NULL, 10));
    } else {
        json_string(json, key, NULL);
    }
}

/* The number of a port's rate: "100 Gb/sec (4X EDR)". */
static void write_port_speed(struct json *json, const char *port_path)
{
    static const double MBPS_PER_GBPS = 1000;
    char path[PATH_MAX];
    char rate[64];
    snprintf(path, sizeof path, "%s/rate", port_path);
    const bool known = system_line(path, "", rate, sizeof rate);
    json_number(json, "speed_Mbps", known ? strtod(rate, NULL) * MBPS_PER_GBPS : NAN);
}

static void write_interface(struct json *json, const char *name, int mtu, long long rx_bytes,
                            long long tx_bytes)
{
    json_string(json, "name", name);
    if (mtu >= 0) {
        json_integer(json, "mtu", mtu);
    } else {
        json_string(json, "mtu", NULL);
    }
    json_integer(json, "rx_bytes", rx_bytes);
    json_integer(json, "tx_bytes", tx_bytes);
}

/* The devices of this process's network namespace, loopback included. */
static void write_network_devices(struct json *json)
{
    enum { RECEIVE_FIELDS = 8 };
    FILE *devices = fopen("/proc/net/dev", "re");
    if (devices == NULL) {
        return;
    }
    const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char line[512];
    while (fgets(line, sizeof line, devices) != NULL) {
        char *colon = strchr(line, ':');
        if (colon == NULL) {
            continue; /* one of the two title lines */
        }
        *colon = '\0';
        const char *name = line + strspn(line, " ");
        char *field = colon + 1;
        const long long rx_bytes = strtoll(field, &field, 10);
        for (int i = 1; i < RECEIVE_FIELDS; i++) {
            strtoll(field, &field, 10);
        }
        const long long tx_bytes = strtoll(field, &field, 10);
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "/sys/class/net/%s", name);
        json_open(json, NULL, '{');
        write_interface(json, name, interface_mtu(socket_fd, name), rx_bytes, tx_bytes);
        write_fact(json, "speed_Mbps", folder, "speed");
        write_fact(json, "numa_node", folder, "device/numa_node");
        json_close(json, '}');
    }
    if (socket_fd >= 0) {
        close(socket_fd);
    }
    fclose(devices);
}

/* port_rcv_data and port_xmit_data count words of four octets (InfiniBand specification,
 * PortCounters). */
static long long port_bytes(const char *port_path, const char *counter)
{
    enum { OCTETS_PER_WORD = 4 };
    char path[PATH_MAX];
    char text[64];
    snprintf(path, sizeof path, "%s/counters/%s", port_path, counter);
    return system_line(path, "", text, sizeof text) ? OCTETS_PER_WORD * strtoll(text, NULL, 10) : 0;
}

/* Each port as "adapter/port". */
static void write_infiniband_ports(struct json *json)
{
    static const char ADAPTERS[] = "/sys/class/infiniband/";
    static const char PORTS[] = "/ports";
    glob_t ports;
    if (glob("/sys/class/infiniband/*/ports/*", 0, NULL, &ports) != 0) {
        return;
    }
    for (size_t i = 0; i < ports.gl_pathc; i++) {
        const char *path = ports.gl_pathv[i];
        const char *adapter = path + strlen(ADAPTERS);
        char name[PATH_MAX];
        snprintf(name, sizeof name, "%.*s%s", (int)strcspn(adapter, "/"), adapter,
                 strstr(adapter, PORTS) + strlen(PORTS));
        json_open(json, NULL, '{');
        write_interface(json, name, -1, port_bytes(path, "port_rcv_data"),
                        port_bytes(path, "port_xmit_data"));
        write_port_speed(json, path);
        write_fact(json, "numa_node", path, "../../device/numa_node");
        json_close(json, '}');
    }
    globfree(&ports);
}
