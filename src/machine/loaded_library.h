/* Symbols of libraries that MPI has loaded into this process. Kernels do not link against them. */
#ifndef SWITCHPOINT_LOADED_LIBRARY_H
#define SWITCHPOINT_LOADED_LIBRARY_H

typedef void function(void);

/* The address of a symbol of the loaded library whose file is named so, such as "libucs": also
 * libucs.so.0 and, from a wheel, libucs-1a2b3c.so.0. Otherwise of any library that all of this
 * process sees. NULL where there is none. Loads nothing. */
void *loaded_symbol(const char *library, const char *symbol);

/* The address of a symbol as the code at `caller` would find it if this program had none of that
 * name. NULL where there is none. */
void *symbol_behind_ours(const void *caller, const char *symbol);

/* The address of another symbol of the library that contains the code or data at `address`. */
void *symbol_beside(const void *address, const char *symbol);

/* POSIX lets a pointer to data from dlsym be a pointer to a function; ISO C has no word for it. */
function *as_function(void *symbol);

#endif
