# Finds hwloc 2. Without it SWITCHPOINT_HWLOC is turned off, and records have no topology.

if(SWITCHPOINT_SIMGRID)
  set(SWITCHPOINT_HWLOC OFF) # it would describe the machine that simulates
endif()
if(SWITCHPOINT_HWLOC)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(hwloc QUIET IMPORTED_TARGET GLOBAL hwloc>=2)
  endif()
  if(NOT hwloc_FOUND)
    message(STATUS "hwloc: not found by pkg-config; records will have no topology "
      "(Debian: libhwloc-dev, pkgconf)")
    set(SWITCHPOINT_HWLOC OFF)
  endif()
endif()
