// The table of settings of one fabric: definitions, where values were given, and which one is in force.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weft/result.hpp>
#include <weft/settings.hpp>

#include "core/complaints.hpp"
#include "core/setting_value.hpp"
#include "core/settings_file.hpp"
#include "core/surroundings.hpp"

namespace weft::core {

class provider_list;

class settings_table {
  public:
    // Takes the values of program, environment and settings files, and defines the core's own settings. What is
    // wrong with a value of the program is kept for `fault_of_program`; the rest goes to the complaints.
    settings_table(const std::map<std::string, std::string>& program, const surroundings&, complaints&);

    // Adds a definition and decides its value.
    void define(const setting_definition&, complaints&);
    // To be called when everything is defined: complains about given names that are no settings.
    void report_unknown(const provider_list&, complaints&);

    // The first thing that is wrong with what the program gave; a failure with errc::ok if nothing is.
    const failure& fault_of_program() const noexcept { return fault_; }
    // A value that turned out wrong later than when it was taken (a choice that depends on other things).
    void reject(std::string_view name, errc, const std::string& why, complaints&);

    const std::vector<setting_info>& list() const noexcept { return list_; }
    // Of a setting that is defined.
    const setting_info& at(std::string_view name) const noexcept;

  private:
    std::string suggestion_for(const given_value&, const provider_list&) const;
    void blame(const given_value&, errc, const std::string& why, complaints&);

    std::vector<given_value> given_;  // weakest first
    std::vector<setting_info> list_;  // by name
    failure fault_;
};

}  // namespace weft::core
