# Build rules shared by all folders: one folder = one static library + one GoogleTest binary.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
if(NOT CMAKE_CXX_FLAGS_RELWITHDEBINFO MATCHES "-O3")
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g1")
endif()

find_program(LOOM_CCACHE ccache)
if(LOOM_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${LOOM_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${LOOM_CCACHE})
endif()

# __int128 is used throughout, so -Wpedantic stays off. GCC 12 sees overlapping copies in string
# concatenation where there are none (-Wrestrict). Conditions in vectorised loops are combined without
# branches on purpose, which clang takes for a slip.
add_library(loom_flags INTERFACE)
target_compile_options(loom_flags INTERFACE
    -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Wno-unused-parameter -Wno-missing-field-initializers
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>
    -fno-math-errno -ffp-contract=off)
# The lowest x86-64 that is supported: SSE4.2 and POPCNT, in every processor since 2009. What is newer
# is chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(loom_flags INTERFACE -march=x86-64-v2)
endif()
target_include_directories(loom_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(LOOM_SANITIZE)
    add_compile_options(-fsanitize=${LOOM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${LOOM_SANITIZE})
endif()
if(LOOM_BUILD_FUZZERS)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# loom_library(NAME SOURCES a.cpp ... [TESTS a_test.cpp ...] [DEPS loom_x ...] [PRIVATE_DEPS lib ...])
# makes the static library NAME and, when tests are built, the test program NAME_test.
function(loom_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;DEPS;PRIVATE_DEPS" ${ARGN})
    if(ARG_SOURCES)
        add_library(${name} STATIC ${ARG_SOURCES})
        target_link_libraries(${name} PUBLIC loom_flags ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
    else()
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE loom_flags ${ARG_DEPS} ${ARG_PRIVATE_DEPS})
    endif()
    if(LOOM_BUILD_TESTS AND ARG_TESTS)
        add_executable(${name}_test ${ARG_TESTS})
        target_link_libraries(${name}_test PRIVATE ${name} loom_flags GTest::gtest GTest::gtest_main)
        add_test(NAME ${name} COMMAND ${name}_test --gtest_brief=1)
    endif()
endfunction()

# loom_tool(NAME SOURCES ... DEPS ...) makes a command-line program.
function(loom_tool name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE loom_flags ${ARG_DEPS})
    install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# loom_fuzzer(NAME SOURCES ... DEPS ...) makes a libFuzzer program.
function(loom_fuzzer name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE loom_flags ${ARG_DEPS} -fsanitize=fuzzer)
endfunction()
