# Runs at build time. Writes provenance.c, but only when something has changed.

function(quoted name value)
  if(value STREQUAL "")
    set(${name} NULL PARENT_SCOPE)
  else()
    string(REPLACE "\\" "\\\\" value "${value}")
    string(REPLACE "\"" "\\\"" value "${value}")
    set(${name} "\"${value}\"" PARENT_SCOPE)
  endif()
endfunction()

# A source tree inside another repository has no commit of its own.
set(commit "")
execute_process(COMMAND git ls-files --error-unmatch CMakeLists.txt WORKING_DIRECTORY ${SOURCE}
  RESULT_VARIABLE untracked OUTPUT_QUIET ERROR_QUIET)
if(untracked EQUAL 0)
  execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git status --porcelain -- . WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT changes STREQUAL "")
    string(APPEND commit "+")
  endif()
endif()

quoted(GIT_COMMIT "${commit}")
quoted(SPEC_HASH "${SPEC_HASH}")
quoted(VERSION "${VERSION}")
quoted(BUILDER "${BUILDER}")
quoted(COMPILER "${COMPILER}")
quoted(FLAGS "${FLAGS}")
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
