# Finds the MPI of MPI_C_COMPILER, and the launcher of that MPI. Debian's `mpicc` and `mpiexec`
# are links that may lead to another MPI, so neither may replace them silently.

if(DEFINED MPI_C_COMPILER)
  set(asked ${MPI_C_COMPILER})
  find_program(asked_path NAMES ${asked} NO_CACHE)
  if(NOT asked_path)
    message(FATAL_ERROR "MPI_C_COMPILER=${asked}: no such program; install it or name another")
  endif()
  set(MPI_C_COMPILER ${asked_path} CACHE FILEPATH "MPI compiler wrapper" FORCE)
endif()

# The launcher beside the wrapper, with the same suffix: mpicc.openmpi goes with mpiexec.openmpi.
if(DEFINED MPI_C_COMPILER AND NOT DEFINED MPIEXEC_EXECUTABLE)
  get_filename_component(folder ${MPI_C_COMPILER} DIRECTORY)
  get_filename_component(suffix ${MPI_C_COMPILER} LAST_EXT)
  if(EXISTS ${folder}/mpiexec${suffix})
    set(MPIEXEC_EXECUTABLE ${folder}/mpiexec${suffix} CACHE FILEPATH "Starts MPI programs" FORCE)
  endif()
endif()

find_package(MPI REQUIRED COMPONENTS C)

if(DEFINED asked_path AND NOT MPI_C_COMPILER STREQUAL asked_path)
  message(FATAL_ERROR "MPI_C_COMPILER=${asked} does not work; CMake would take ${MPI_C_COMPILER}")
endif()

include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(MPI_T_init_thread mpi.h SWITCHPOINT_MPI_T)
check_symbol_exists(MPI_Send_c mpi.h SWITCHPOINT_LARGE_COUNTS)
check_symbol_exists(SMPI_H mpi.h SWITCHPOINT_SIMGRID)
unset(CMAKE_REQUIRED_LIBRARIES)

# SimGrid's MPI: a program is a library, which smpirun loads again for each simulated rank and in which
# sleep, exit and the like are SimGrid's. `smpicc -show` prints these options.
if(SWITCHPOINT_SIMGRID)
  get_filename_component(folder ${MPI_C_COMPILER} DIRECTORY)
  set(MPIEXEC_EXECUTABLE ${folder}/smpirun CACHE FILEPATH "Starts MPI programs" FORCE)
  add_compile_options(-fPIC "SHELL:-include smpi/smpi_helpers.h")
  add_link_options(-shared)
endif()
message(STATUS "MPI: ${MPI_C_COMPILER}, started with ${MPIEXEC_EXECUTABLE}")
