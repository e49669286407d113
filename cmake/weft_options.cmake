# Compiler settings that hold for everything, and where things land in the build folder.
include(GNUInstallDirs)
include(CTest)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or Sanitize" FORCE)
endif()
set(WEFT_SANITIZE "" CACHE STRING "value of -fsanitize=, for example address,undefined")
option(WEFT_FUZZ "build the fuzz targets with libFuzzer (needs clang)" OFF)
option(WEFT_WARNINGS_AS_ERRORS "a warning ends the build" ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# -g1 keeps line numbers in backtraces and profiles at a tenth of the size of -g. Only WEFT_ASSERT looks at NDEBUG.
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")

set(weft_sanitized OFF)
if(WEFT_SANITIZE)
    set(weft_sanitized ON)
endif()

# Applied to our own targets only: weft_common carries no usage requirement beyond this tree.
add_library(weft_common INTERFACE)
target_compile_options(weft_common INTERFACE
    -march=x86-64-v2  # the oldest machine we run on; instruction counts are compared for exactly this target
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wnon-virtual-dtor -Wextra-semi
    $<$<BOOL:${WEFT_WARNINGS_AS_ERRORS}>:-Werror>
    # g++ 12 warns of impossible overlaps inside std::string (GCC bug 105651); fixed in 13.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    # The sanitizers' checks lead gcc's flow analysis to bounds and values that cannot be.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${weft_sanitized}>>:-Wno-maybe-uninitialized;-Wno-stringop-overflow;-Wno-array-bounds>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)  # clang counts it to -Wconversion, gcc does not
# The two are C++ only; gcc warns about them in C.
get_target_property(weft_options weft_common INTERFACE_COMPILE_OPTIONS)
list(TRANSFORM weft_options REPLACE "^(-Wnon-virtual-dtor|-Wextra-semi)$" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
set_target_properties(weft_common PROPERTIES INTERFACE_COMPILE_OPTIONS "${weft_options}")
target_include_directories(weft_common INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/providers)

if(WEFT_SANITIZE)
    add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${WEFT_SANITIZE})
    if(WEFT_FUZZ)
        add_compile_options(-fsanitize=fuzzer-no-link)
    endif()
endif()

find_package(Threads REQUIRED)

find_program(WEFT_CCACHE ccache)
if(WEFT_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${WEFT_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${WEFT_CCACHE})
endif()
find_program(WEFT_MOLD mold)
if(WEFT_MOLD)
    add_link_options(-fuse-ld=mold)
endif()

# Sources of some folders, looked at again at every build; an empty answer is fine.
macro(weft_glob result)
    file(GLOB ${result} CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${ARGN})
    list(TRANSFORM ${result} PREPEND ${PROJECT_SOURCE_DIR}/)
endmacro()
