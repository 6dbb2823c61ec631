/* What UCX prints about an endpoint, as its releases print it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ucx_endpoint_text.h"

/* Whether a text is described so; `wanted` is NULL for an endpoint to itself. */
static void describe(const char *printed, const char *wanted)
{
    struct json object = {0};
    char text[2048];
    snprintf(text, sizeof text, "%s", printed);
    const bool to_others = ucx_endpoint_describe(&object, text);
    CHECK(to_others == (wanted != NULL));
    if (wanted != NULL) {
        json_close(&object, '}');
        CHECK(strcmp(object.text, wanted) == 0);
    }
    json_free(&object);
}

/* 1.13: a line of thresholds. An empty range is none. */
static void a_line(void)
{
    describe("# UCP endpoint\n"
             "#       lane[0]:  3:tcp/eth0.100.0 md[2]   -> md[2]/tcp/sysdev[255] am am_bw#0\n"
             "#       lane[1]: proxy to lane[0]\n"
             "#       tag_send: 0..<egr/short>..0..<egr/bcopy>..8256..<rndv>..(inf)\n"
             "#   tag_send_nbr: 0..<egr/short>..93..<egr/bcopy>..262144..<rndv>..(inf)\n",
             "{\"lanes\":[\"tcp/eth0.100\"],\"tag_send\":["
             "{\"first_bytes\":0,\"last_bytes\":8255,\"protocol\":\"egr/bcopy\",\"path\":null},"
             "{\"first_bytes\":8256,\"last_bytes\":null,\"protocol\":\"rndv\",\"path\":null}]}");
}

/* 1.20: tables, one of them of tagged sends. A range may be one size, a protocol several lines. */
static void tables(void)
{
    describe("#       lane[0]:  0:tcp/eth0.0 md[1]  -> md[1]/tcp/sysdev[255] seg 8240 am\n"
             "# +-----+----+\n"
             "# | ctx inter-node cfg#1 | tagged message by ucp_tag_send* from host memory |\n"
             "# | 0          | eager short      | tcp/eth0 |\n"
             "# | 1..262143  | eager zero-copy  | 50% on tcp/eth0 |\n"
             "# |            |                  | 50% on tcp/eth1 |\n"
             "# | 256K..inf  | (?) rendezvous   | tcp/eth0 |\n"
             "# | ctx inter-node cfg#1 | active message by ucp_am_send* from host memory |\n"
             "# | 0..inf     | short            | tcp/eth0 |\n",
             "{\"lanes\":[\"tcp/eth0\"],\"tag_send\":["
             "{\"first_bytes\":0,\"last_bytes\":0,\"protocol\":\"eager short\",\"path\":\"tcp/"
             "eth0\"},"
             "{\"first_bytes\":1,\"last_bytes\":262143,\"protocol\":\"eager "
             "zero-copy\",\"path\":\"50% on tcp/eth0\"},"
             "{\"first_bytes\":262144,\"last_bytes\":null,\"protocol\":\"(?) "
             "rendezvous\",\"path\":\"tcp/eth0\"}]}");
}

/* 1.13 with the newer code prints both: the table is what is used. */
static void both(void)
{
    describe("# lane[0]:  3:sysv/memory.0 md[2] -> md[2]/sysv/sysdev[255] am\n"
             "# tag_send: 0..<egr/short>..93..<rndv>..(inf)\n"
             "# | 0x55 ep_cfg[1] | tagged message by ucp_tag_send*() from host memory |\n"
             "# | 0..inf         | eager short | sysv/memory |\n",
             "{\"lanes\":[\"sysv/memory\"],\"tag_send\":[{\"first_bytes\":0,\"last_bytes\":null,"
             "\"protocol\":\"eager short\",\"path\":\"sysv/memory\"}]}");
    setenv("UCX_PROTO_ENABLE", "y", 1);
    describe("# lane[0]:  3:sysv/memory.0 md[2] -> md[2]/sysv/sysdev[255] am\n"
             "# tag_send: 0..<egr/short>..93..<rndv>..(inf)\n",
             "{\"lanes\":[\"sysv/memory\"],\"tag_send\":[]}");
    unsetenv("UCX_PROTO_ENABLE");
}

int main(void)
{
    a_line();
    tables();
    both();
    describe("# lane[0]:  0:self/memory0.0 md[0] -> md[0]/self/sysdev[255] am\n", NULL);
    describe("", "{\"lanes\":[],\"tag_send\":[]}");
    return check_result();
}
