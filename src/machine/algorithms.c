/* Lists and chooses the algorithms of collectives through MPI_T. */
#include "algorithms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abort_job.h"
#include "exit_codes.h"
#include "memory.h"
#include "mpi_check.h"

/* The value with which the library chooses. */
enum { AUTOMATIC = 0 };

void algorithms_allow(void)
{
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    setenv("MPIR_CVAR_COLLECTIVE_FALLBACK", "silent", 0);
}

#ifdef SWITCHPOINT_MPI_T
enum { NAME_LENGTH = 64, DESCRIPTION_LENGTH = 4096 };

struct found {
    struct algorithm *algorithms;
    size_t count;
};

static void add(struct found *found, const char *name, size_t length, int value, int variable)
{
    found->algorithms =
        reallocate(found->algorithms, (found->count + 1) * sizeof *found->algorithms);
    struct algorithm *algorithm = &found->algorithms[found->count++];
    *algorithm = (struct algorithm){.value = value, .variable = variable, .comm = MPI_COMM_NULL};
    snprintf(algorithm->name, sizeof algorithm->name, "%.*s", (int)length, name);
}

/* Open MPI ends the program where "two_proc" meets other than two ranks. */
static bool takes(const char *name, int ranks)
{
    static const char TWO[] = "two_proc";
    return ranks == 2 || strncmp(name, TWO, strlen(TWO)) != 0;
}

static void add_items(struct found *found, MPI_T_enum names, int variable, int ranks)
{
    int items = 0;
    int length = 0;
    MPI_CHECK(MPI_T_enum_get_info(names, &items, NULL, &length));
    for (int item = 0; item < items; item++) {
        char name[NAME_LENGTH];
        int value = 0;
        length = NAME_LENGTH;
        MPI_CHECK(MPI_T_enum_get_item(names, item, &value, name, &length));
        if (value != AUTOMATIC && takes(name, ranks)) {
            add(found, name, strlen(name), value, variable);
        }
    }
}

/* MPICH describes its algorithms as "name - what it is", in the order of the values. Version 4.0
 * has lost the line ends, so that a name follows the last word of the text before it. */
static const char *const GLUED_NAMES[] = {
    "nb",
    "smp",
    "binomial",
    "scatter_recursive_doubling_allgather",
    "brucks",
    "ring",
    "scattered",
    "scatter_ring_allgather",
    "pairwise",
    "tree",
    "recexch",
    "recursive_doubling",
    "linear",
    "auto",
    "pairwise_sendrecv_replace",
    "reduce_scatter_allgather",
    "recursive_halving",
    "noncommutative",
    "reduce_scatter_gather",
    "k_dissemination",
    "dissemination",
};

/* Of a name that is not known, all that may be part of it. */
static size_t name_length(const char *end, size_t word)
{
    size_t longest = 0;
    for (size_t i = 0; i < sizeof GLUED_NAMES / sizeof *GLUED_NAMES; i++) {
        const size_t length = strlen(GLUED_NAMES[i]);
        if (length <= word && length > longest &&
            strncmp(end - length, GLUED_NAMES[i], length) == 0) {
            longest = length;
        }
    }
    return longest > 0 ? longest : word;
}

static void add_described(struct found *found, const char *description, int variable)
{
    int value = 0;
    for (const char *dash = strstr(description, " - "); dash != NULL;
         dash = strstr(dash + 1, " - ")) {
        const char *end = dash;
        while (end > description && end[-1] == ' ') {
            end--;
        }
        const char *start = end;
        while (start > description && (isalnum((unsigned char)start[-1]) || start[-1] == '_')) {
            start--;
        }
        const size_t word = (size_t)(end - start);
        const bool alone = start > description && start[-1] == '\n';
        const size_t length = alone ? word : name_length(end, word);
        if (length > 0 && value++ != AUTOMATIC) {
            add(found, end - length, length, value - 1, variable);
        }
    }
}

static void variable_name(const char *operation, char *name)
{
#ifdef OPEN_MPI
    snprintf(name, NAME_LENGTH, "coll_tuned_%s_algorithm", operation);
#else
    snprintf(name, NAME_LENGTH, "MPIR_CVAR_%s_INTRA_ALGORITHM", operation);
    for (char *letter = name; *letter != '\0'; letter++) {
        *letter = (char)toupper((unsigned char)*letter);
    }
#endif
}

static void find_all(const char *name, int ranks, struct found *found)
{
    int thread_level = MPI_THREAD_SINGLE;
    int variable = 0;
    /* MPI_T stays initialised, see mpi_library.c. */
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &thread_level) != MPI_SUCCESS ||
        MPI_T_cvar_get_index(name, &variable) != MPI_SUCCESS) {
        return;
    }
    char *description = allocate(DESCRIPTION_LENGTH, 1);
    char own_name[NAME_LENGTH];
    int name_length = NAME_LENGTH;
    int description_length = DESCRIPTION_LENGTH;
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    MPI_CHECK(MPI_T_cvar_get_info(variable, own_name, &name_length, &verbosity, &type, &names,
                                  description, &description_length, &binding, &scope));
    if (type == MPI_INT && names != MPI_T_ENUM_NULL) {
        add_items(found, names, variable, ranks);
    } else if (type == MPI_INT) {
        add_described(found, description, variable);
    }
    free(description);
}

static bool write_value(int variable, int value)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(variable, NULL, &handle, &count) != MPI_SUCCESS) {
        return false;
    }
    const bool written = count == 1 && MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return written;
}

struct algorithm *algorithms_of(MPI_Comm comm, const char *operation, size_t *count,
                                struct refusal *refusal)
{
    char name[NAME_LENGTH];
    struct found found = {0};
    int ranks = 0;
    MPI_CHECK(MPI_Comm_size(comm, &ranks));
    variable_name(operation, name);
    find_all(name, ranks, &found);
    bool written = true;
    for (size_t i = 0; i < found.count && written; i++) {
        written = write_value(found.algorithms[i].variable, found.algorithms[i].value);
        MPI_CHECK(MPI_Comm_dup(comm, &found.algorithms[i].comm));
        MPI_CHECK(MPI_Comm_set_errhandler(found.algorithms[i].comm, MPI_ERRORS_RETURN));
        written = write_value(found.algorithms[i].variable, AUTOMATIC) && written;
    }
    if (found.count == 0) {
        refuse(refusal,
               "--algorithms: this MPI library has no variable %s with their names; "
               "leave the option out",
               name);
    } else if (!written) {
        refuse(refusal,
               "--algorithms: the variable %s cannot be written while a program runs; "
               "set it in the environment of several runs",
               name);
    }
    *count = found.count;
    return found.algorithms;
}

/* It could be written when the algorithms were listed. */
static void must_write(const struct algorithm *algorithm, int value)
{
    if (!write_value(algorithm->variable, value)) {
        abort_job(algorithm->comm, EXIT_MPI_ERROR,
                  "--algorithms: the variable for %s can no longer be written", algorithm->name);
    }
}

void algorithm_begin(const struct algorithm *algorithm)
{
    must_write(algorithm, algorithm->value);
}

void algorithm_end(const struct algorithm *algorithm)
{
    must_write(algorithm, AUTOMATIC);
}
#else
/* SimGrid's MPI has no MPI_T. */
struct algorithm *algorithms_of(MPI_Comm comm, const char *operation, size_t *count,
                                struct refusal *refusal)
{
    (void)comm, (void)operation;
    *count = 0;
    refuse(refusal,
           "--algorithms: this MPI library has no control variables; leave the option out");
    return NULL;
}

void algorithm_begin(const struct algorithm *algorithm)
{
    (void)algorithm;
}

void algorithm_end(const struct algorithm *algorithm)
{
    (void)algorithm;
}
#endif

void algorithms_free(struct algorithm *algorithms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (algorithms[i].comm != MPI_COMM_NULL) {
            MPI_Comm_free(&algorithms[i].comm);
        }
    }
    free(algorithms);
}
