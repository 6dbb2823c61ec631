/* Stands between fft and FFTW: says how each plan is made. */
#include <dlfcn.h>
#include <fftw3.h>
#include <stdio.h>

typedef void function(void);

/* POSIX lets a pointer to data from dlsym be a pointer to a function; ISO C has no word for it. */
static function *real(const char *name)
{
    union {
        void *data;
        function *code;
    } found = {.data = dlsym(RTLD_NEXT, name)};
    return found.code;
}

static void say(const char *what, unsigned flags)
{
    fprintf(stderr, "plan: %s %s\n", what, flags & FFTW_ESTIMATE ? "estimated" : "measured");
}

fftw_plan fftw_plan_many_dft(int rank, const int *n, int howmany, fftw_complex *in,
                             const int *inembed, int istride, int idist, fftw_complex *out,
                             const int *onembed, int ostride, int odist, int sign, unsigned flags)
{
    typedef fftw_plan plan(int, const int *, int, fftw_complex *, const int *, int, int,
                           fftw_complex *, const int *, int, int, int, unsigned);
    say("rows", flags);
    return ((plan *)real("fftw_plan_many_dft"))(rank, n, howmany, in, inembed, istride, idist, out,
                                                onembed, ostride, odist, sign, flags);
}

fftw_plan fftw_plan_dft_2d(int n0, int n1, fftw_complex *in, fftw_complex *out, int sign,
                           unsigned flags)
{
    typedef fftw_plan plan(int, int, fftw_complex *, fftw_complex *, int, unsigned);
    say("matrix", flags);
    return ((plan *)real("fftw_plan_dft_2d"))(n0, n1, in, out, sign, flags);
}
