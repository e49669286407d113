# Tests. Labels: unit, conformance, system, model, compile_fail, cli, gate, install, fuzz; and `threads` on every
# gtest program whose sources start threads, which is what the thread sanitizer runs.

set(WEFT_TEST_TIMEOUT 120 CACHE STRING "seconds after which one test has failed")

# What scripts and tests get to know about the build.
function(weft_test_environment result)
    set(${result}
        "TEST_WEFT_BIN_DIR=${PROJECT_BINARY_DIR}/bin"
        "TEST_WEFT_LIB_DIR=${PROJECT_BINARY_DIR}/lib"
        "TEST_WEFT_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
        "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
        "UBSAN_OPTIONS=print_stacktrace=1"
        "TSAN_OPTIONS=second_deadlock_stack=1" PARENT_SCOPE)
endfunction()

# weft_gtest(NAME LABEL SOURCES ... LIBRARIES ...): a GoogleTest program, each test an entry of ctest.
function(weft_gtest name label)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LIBRARIES")
    weft_find(GTest GTest::gtest_main have_gtest)
    if(NOT have_gtest OR NOT arg_SOURCES)
        return()
    endif()
    weft_program(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES} GTest::gtest_main GTest::gtest
        INCLUDES ${PROJECT_SOURCE_DIR}/tests)
    add_dependencies(weft_gtests ${name})
    set(labels ${label})
    foreach(source IN LISTS arg_SOURCES)
        file(STRINGS ${source} starts_threads REGEX "std::j?thread|pthread_create|std::async")
        if(starts_threads)
            list(APPEND labels threads)
            add_dependencies(weft_threads_gtests ${name})
            break()
        endif()
    endforeach()
    weft_test_environment(environment)
    gtest_discover_tests(${name} TEST_PREFIX "${name}." NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 30)
    # Properties whose value is a list do not survive gtest_discover_tests; ctest reads this file after the tests.
    set(properties_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
    file(CONFIGURE OUTPUT ${properties_file} @ONLY CONTENT [[
if(@name@_TESTS)
    set_tests_properties(${@name@_TESTS} PROPERTIES LABELS "@labels@" TIMEOUT @WEFT_TEST_TIMEOUT@
        ENVIRONMENT "@environment@")
endif()
]])
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties_file})
endfunction()

# weft_unit_tests(ROOM [LIBRARIES ...]): tests/unit/ROOM/*.cc as the program unit_ROOM.
function(weft_unit_tests room)
    weft_glob(sources ${PROJECT_SOURCE_DIR}/tests/unit/${room}/*.cc)
    if(room STREQUAL "floor")
        set(library weft_floor weft_internal)
        if(NOT TARGET weft_floor)
            return()
        endif()
    else()
        set(library weft_internal)
    endif()
    weft_gtest(unit_${room} unit SOURCES ${sources} LIBRARIES ${library} ${ARGN})
endfunction()

# A script as a test; exit status 77 means "cannot be tried here".
function(weft_script_test label path)
    cmake_path(GET path STEM name)
    weft_test_environment(environment)
    add_test(NAME ${label}.${name} COMMAND ${path})
    set_tests_properties(${label}.${name} PROPERTIES LABELS ${label} TIMEOUT ${WEFT_TEST_TIMEOUT}
        ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
endfunction()

# Files of these folders that may be executed are tests, the others are what they share.
function(weft_script_tests label)
    file(GLOB candidates CONFIGURE_DEPENDS ${ARGN})
    foreach(candidate IN LISTS candidates)
        execute_process(COMMAND test -f ${candidate} -a -x ${candidate} RESULT_VARIABLE not_executable)
        if(NOT not_executable)
            weft_script_test(${label} ${candidate})
        endif()
    endforeach()
endfunction()

# tests/compile_fail/*.cc must not compile, for the reason given in the file; with -DCONTROL they must.
function(weft_compile_fail_tests)
    weft_glob(sources ${PROJECT_SOURCE_DIR}/tests/compile_fail/*.cc)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        add_test(NAME compile_fail.${name} COMMAND ${PROJECT_SOURCE_DIR}/cmake/compile_fail.py ${source} --
            ${CMAKE_CXX_COMPILER} -std=c++20 -march=x86-64-v2 -Wall -Wextra -Werror
            -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/providers)
        set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail TIMEOUT ${WEFT_TEST_TIMEOUT})
    endforeach()
endfunction()

# tests/fuzz/NAME.cc has LLVMFuzzerTestOneInput. In the fuzz preset it is a libFuzzer program, and a test with a
# fixed budget that starts from tests/fuzz/corpus/NAME.
function(weft_fuzz_tests)
    if(NOT WEFT_FUZZ)
        return()
    endif()
    weft_glob(sources ${PROJECT_SOURCE_DIR}/tests/fuzz/*.cc)
    weft_test_environment(environment)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        weft_program(fuzz_${name} SOURCES ${source} LIBRARIES weft_internal)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        # New inputs go to a scratch folder of the build; the seed makes a failure repeatable.
        set(scratch ${PROJECT_BINARY_DIR}/fuzz/${name})
        file(MAKE_DIRECTORY ${scratch})
        set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
        if(NOT IS_DIRECTORY ${corpus})
            set(corpus "")
        endif()
        add_test(NAME fuzz.${name} COMMAND fuzz_${name} -seed=1 -runs=50000 -max_total_time=60
            -artifact_prefix=${scratch}/ ${scratch} ${corpus})
        set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT ${WEFT_TEST_TIMEOUT}
            ENVIRONMENT "${environment}")
    endforeach()
endfunction()

macro(weft_add_tests)
    include(GoogleTest)
    add_custom_target(weft_gtests)          # all GoogleTest programs
    add_custom_target(weft_threads_gtests)  # those that start threads
    file(GLOB weft_rooms CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/tests/unit
        ${PROJECT_SOURCE_DIR}/tests/unit/*)
    foreach(room IN LISTS weft_rooms)
        if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/unit/${room})
            weft_unit_tests(${room})
        endif()
    endforeach()
    # Programs against the public face: what libweft.so shows, plus the small helpers of src/base and src/os.
    foreach(suite conformance system model)
        weft_glob(weft_suite_sources ${PROJECT_SOURCE_DIR}/tests/${suite}/*.cc)
        weft_gtest(${suite} ${suite} SOURCES ${weft_suite_sources} LIBRARIES weft weft_base)
    endforeach()
    # A folder of tests with a CMakeLists.txt says itself what it needs.
    file(GLOB weft_test_folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/CMakeLists.txt)
    foreach(file IN LISTS weft_test_folders)
        cmake_path(GET file PARENT_PATH folder)
        add_subdirectory(${folder})
    endforeach()
    weft_compile_fail_tests()
    weft_fuzz_tests()
    weft_script_tests(cli ${PROJECT_SOURCE_DIR}/tests/cli/*)
    if(NOT WEFT_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Release")
        weft_script_tests(gate ${PROJECT_SOURCE_DIR}/tests/gate/*)
        weft_script_tests(install ${PROJECT_SOURCE_DIR}/tests/install/*)
    endif()
endmacro()
