/* Reading single lines of /proc and /sys. */
#include "system_files.h"

#include <stdio.h>
#include <string.h>

bool system_line(const char *path, const char *prefix, char *line, size_t capacity)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    bool found = false;
    while (!found && fgets(line, (int)capacity, file) != NULL) {
        found = strncmp(line, prefix, strlen(prefix)) == 0;
    }
    fclose(file);
    line[found ? strcspn(line, "\n") : 0] = '\0';
    return found;
}
