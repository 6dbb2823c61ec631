# Finds PVM 3. Without it SWITCHPOINT_PVM is turned off, and the kernel echo has no PVM modes.

if(SWITCHPOINT_SIMGRID)
  set(SWITCHPOINT_PVM OFF)
endif()
if(SWITCHPOINT_PVM)
  find_path(PVM_INCLUDE_DIR pvm3.h HINTS ENV PVM_ROOT PATH_SUFFIXES include)
  find_library(PVM_LIBRARY pvm3 HINTS ENV PVM_ROOT PATH_SUFFIXES lib)
  mark_as_advanced(PVM_INCLUDE_DIR PVM_LIBRARY)
  if(PVM_INCLUDE_DIR AND PVM_LIBRARY)
    add_library(PVM::PVM UNKNOWN IMPORTED)
    set_target_properties(PVM::PVM PROPERTIES IMPORTED_LOCATION ${PVM_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${PVM_INCLUDE_DIR}
      INTERFACE_COMPILE_DEFINITIONS SWITCHPOINT_PVM)
    message(STATUS "PVM: ${PVM_LIBRARY}")
  else()
    message(STATUS "PVM: not found; the kernel echo is built without it")
    set(SWITCHPOINT_PVM OFF)
  endif()
endif()
