# The applications of study 004. Some do their arithmetic in a library: where it is absent, the
# application is not built, and configuring says so in one line.

option(SWITCHPOINT_FFT "Build fft, where FFTW is installed" ON)
option(SWITCHPOINT_JPEG "Build jpeg, where libjpeg-turbo is installed" ON)
option(SWITCHPOINT_LINEAR "Build linear, where OpenBLAS and LAPACKE are installed" ON)

add_library(applications STATIC
  applications/application.c
  applications/matrix.c
  applications/patterns.c
  applications/space.c)
target_compile_definitions(applications PRIVATE _GNU_SOURCE) # nanosleep
target_link_libraries(applications PUBLIC engine PRIVATE warnings)

# add_application(NAME [LIBRARY ...])
function(add_application name)
  add_executable(${name} applications/${name}.c)
  target_link_libraries(${name} PRIVATE applications warnings ${ARGN})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# add_application_with(NAME DEBIAN_PACKAGES MODULE ...): if pkg-config knows all the modules. The
# target PkgConfig::NAME stands for them.
macro(add_application_with name packages)
  string(TOUPPER SWITCHPOINT_${name} wanted)
  if(${wanted})
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(${name} QUIET IMPORTED_TARGET ${ARGN})
    endif()
    if(${name}_FOUND)
      add_application(${name} PkgConfig::${name})
    else()
      string(REPLACE ";" " and " lacking "${ARGN}")
      message(STATUS "${name}: not built, pkg-config finds no ${lacking} (Debian: ${packages})")
    endif()
  endif()
endmacro()

find_package(PkgConfig QUIET)

add_application(backpropagation)
add_application(psrs)
add_application(voting)
add_application_with(fft "libfftw3-dev, pkgconf" fftw3)
add_application_with(jpeg "libturbojpeg0-dev, pkgconf" libturbojpeg)

# Some builds of OpenBLAS hold LAPACKE, as Spack's; Debian has it apart.
if(PKG_CONFIG_FOUND)
  pkg_check_modules(openblas QUIET IMPORTED_TARGET openblas)
endif()
if(openblas_FOUND)
  include(CheckSymbolExists)
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::openblas)
  check_symbol_exists(LAPACKE_dgetrf lapacke.h OPENBLAS_HAS_LAPACKE)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
set(linear_modules openblas lapacke)
if(OPENBLAS_HAS_LAPACKE)
  set(linear_modules openblas)
endif()
add_application_with(linear "libopenblas-serial-dev, liblapacke-dev, pkgconf" ${linear_modules})
