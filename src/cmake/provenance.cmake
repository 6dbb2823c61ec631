# What every record says about this build. Each build reads the commit again.

string(TOUPPER "CMAKE_C_FLAGS_${CMAKE_BUILD_TYPE}" build_type_flags)
set(SWITCHPOINT_COMPILER "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
string(STRIP "${CMAKE_C_FLAGS} ${${build_type_flags}}" SWITCHPOINT_FLAGS)
if(SWITCHPOINT_SANITIZE)
  string(APPEND SWITCHPOINT_FLAGS " -fsanitize=address,undefined")
endif()

set(provenance_source ${CMAKE_BINARY_DIR}/provenance.c)
add_custom_target(read_commit
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE=${CMAKE_SOURCE_DIR}
    -DTEMPLATE=${CMAKE_SOURCE_DIR}/cmake/provenance.c.in
    -DOUTPUT=${provenance_source}
    -DVERSION=${PROJECT_VERSION}
    -DBUILDER=${SWITCHPOINT_BUILDER}
    -DSPEC_HASH=${SWITCHPOINT_SPEC_HASH}
    "-DCOMPILER=${SWITCHPOINT_COMPILER}"
    "-DFLAGS=${SWITCHPOINT_FLAGS}"
    -P ${CMAKE_SOURCE_DIR}/cmake/write_provenance.cmake
  BYPRODUCTS ${provenance_source}
  VERBATIM)

add_library(provenance STATIC ${provenance_source})
target_include_directories(provenance PRIVATE base)
add_dependencies(provenance read_commit)
