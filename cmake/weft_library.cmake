# The library: every source is compiled once, position independent, and goes into
#   weft           the shared library that is installed; shows what WEFT_EXPORT marks
#   weft_internal  a static library with everything, for unit tests and benches
#   weft_base      a static library of src/base and src/os alone, for tools that share their clock, lists or mappings

# weft_provider(NAME): builds providers/NAME/*.cc into the library. The folder defines the C object
# weft_provider_NAME in provider.cc; until it has that file, it is compiled but not offered.
function(weft_provider name)
    weft_glob(sources ${PROJECT_SOURCE_DIR}/providers/${name}/*.cc)
    target_sources(weft_objects PRIVATE ${sources})
    if(EXISTS ${PROJECT_SOURCE_DIR}/providers/${name}/provider.cc)
        set_property(GLOBAL APPEND PROPERTY WEFT_BUILTINS ${name})
    endif()
endfunction()

# The one list of built-in providers, made from src/core/builtin_providers.cc.in.
function(weft_builtin_list)
    set(template ${PROJECT_SOURCE_DIR}/src/core/builtin_providers.cc.in)
    if(NOT EXISTS ${template})
        return()
    endif()
    get_property(names GLOBAL PROPERTY WEFT_BUILTINS)
    set(WEFT_BUILTIN_DECLARATIONS "")
    set(WEFT_BUILTIN_ENTRIES "")
    foreach(name IN LISTS names)
        string(APPEND WEFT_BUILTIN_DECLARATIONS "extern weft_provider weft_provider_${name};\n")
        string(APPEND WEFT_BUILTIN_ENTRIES "&weft_provider_${name}, ")
    endforeach()
    configure_file(${template} ${PROJECT_BINARY_DIR}/generated/builtin_providers.cc @ONLY)
    target_sources(weft_objects PRIVATE ${PROJECT_BINARY_DIR}/generated/builtin_providers.cc)
endfunction()

function(weft_object_library name)
    add_library(${name} OBJECT ${ARGN})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${name} PRIVATE weft_common)
    target_compile_definitions(${name} PRIVATE
        WEFT_VERSION="${PROJECT_VERSION}"
        WEFT_PLUGIN_DIR="${CMAKE_INSTALL_FULL_LIBDIR}/weft"
        WEFT_SYSCONF_DIR="${CMAKE_INSTALL_FULL_SYSCONFDIR}/weft")
endfunction()

macro(weft_libraries)
    weft_glob(weft_base_sources ${PROJECT_SOURCE_DIR}/src/base/*.cc ${PROJECT_SOURCE_DIR}/src/os/*.cc)
    weft_glob(weft_sources ${PROJECT_SOURCE_DIR}/src/*/*.cc)
    list(REMOVE_ITEM weft_sources ${weft_base_sources})
    # An object library may not be empty, and the tree may be.
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/nothing.cc CONTENT "// A library needs one source.\n")
    weft_object_library(weft_base_objects ${PROJECT_BINARY_DIR}/generated/nothing.cc ${weft_base_sources})
    weft_object_library(weft_objects ${PROJECT_BINARY_DIR}/generated/nothing.cc ${weft_sources})

    # A provider folder with a CMakeLists.txt says itself what it needs; without one it is built in.
    file(GLOB weft_provider_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/providers/*)
    foreach(folder IN LISTS weft_provider_folders)
        cmake_path(GET folder FILENAME name)
        if(EXISTS ${folder}/CMakeLists.txt)
            add_subdirectory(${folder})
        elseif(IS_DIRECTORY ${folder})
            weft_provider(${name})
        endif()
    endforeach()
    weft_builtin_list()

    add_library(weft SHARED $<TARGET_OBJECTS:weft_base_objects> $<TARGET_OBJECTS:weft_objects>)
    add_library(weft::weft ALIAS weft)
    set_target_properties(weft PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
        SKIP_BUILD_RPATH ON INSTALL_RPATH ""  # it needs nothing that is not found the ordinary way
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/weft.map)
    target_compile_features(weft INTERFACE cxx_std_20)
    target_include_directories(weft INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_options(weft PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/weft.map
        -Wl,-z,relro,-z,now -Wl,--as-needed)
    if(NOT WEFT_SANITIZE)  # the sanitizers' symbols come with the program
        target_link_options(weft PRIVATE -Wl,-z,defs)
    endif()

    add_library(weft_base STATIC $<TARGET_OBJECTS:weft_base_objects>)
    target_link_libraries(weft_base INTERFACE Threads::Threads)
    add_library(weft_internal STATIC $<TARGET_OBJECTS:weft_base_objects> $<TARGET_OBJECTS:weft_objects>)
    target_link_libraries(weft_internal INTERFACE Threads::Threads)
endmacro()
