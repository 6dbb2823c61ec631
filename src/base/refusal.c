/* Bad input: one line on rank 0, the same verdict on every rank. */
#include "refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "mpi_check.h"

/* Shortens each quoted text and each word, such as a path, that is longer than anybody would write
 * by hand: what follows it says how to correct it. */
static void shorten_words(char *text)
{
    enum { QUOTED_MAX = 60, WORD_MAX = 200 };
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        if (*from == ' ') {
            *to++ = *from++;
            continue;
        }
        const bool quoted = *from == '\'';
        const char *end = from + 1 + strcspn(from + 1, quoted ? "'" : " ");
        end += quoted && *end == '\'' ? 1 : 0;
        const size_t length = (size_t)(end - from);
        const size_t most = quoted ? QUOTED_MAX : WORD_MAX;
        memmove(to, from, length < most ? length : most);
        to += length < most ? length : most;
        if (length > most) {
            to = stpcpy(to - strlen("..."), "...");
        }
        from = end;
    }
    *to = '\0';
}

bool refuse(struct refusal *refusal, const char *format, ...)
{
    if (refusal->text[0] != '\0') {
        return false;
    }
    va_list arguments;
    va_list again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    const size_t room = (size_t)(length > 0 ? length : 0) + 1;
    char *whole = allocate(room, 1);
    vsnprintf(whole, room, format, again);
    va_end(again);
    shorten_words(whole);
    snprintf(refusal->text, sizeof refusal->text, "%s", whole);
    free(whole);
    /* The text may quote the command line, where a control character would break the line. */
    for (char *c = refusal->text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == '\x7f') {
            *c = '?';
        }
    }
    return false;
}

bool refused_anywhere(MPI_Comm comm, const char *program, const struct refusal *refusal)
{
    int rank = 0;
    int ranks = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    MPI_CHECK(MPI_Comm_size(comm, &ranks));

    const int mine = refusal->text[0] != '\0' ? rank : ranks;
    int first = ranks;
    MPI_CHECK(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
    if (first == ranks) {
        return false;
    }
    struct refusal reason = *refusal;
    MPI_CHECK(MPI_Bcast(reason.text, sizeof reason.text, MPI_CHAR, first, comm));
    if (rank == 0) {
        fprintf(stderr, "%s: %s\n", program, reason.text);
    }
    return true;
}
