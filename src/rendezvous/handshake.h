// Two processes prove to each other that they know the token of their job. It never goes over the
// line, and a proof is of no use a second time: each side adds a number that it uses once.
//
//   process N                            process 0
//   hello: its number used once  ->
//                                <-  challenge: its number used once
//   proof: a code, its claim     ->
//                                <-  accepted: another code
//   introduction                 ->
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace loaderscope {

inline constexpr std::size_t kOnceBytes = 32;

// The numbers that both sides use once.
struct Once {
  std::string comer_once, first_once;
};

// The place that a process claims.
struct Claim {
  std::string job;  // a digest of its name: names may be long
  std::int64_t number = -1, processes = 0;
};
std::string digest_of_job(const std::string& name);

std::string hello_text(const std::string& once);
// Returns nothing if it is no hello of this version of the messages.
std::optional<std::string> once_in_hello(std::string_view hello);

std::string make_proof(const Secret& token, const Once& once, const Claim& claim);
// Returns nothing if the sender does not know the token.
std::optional<Claim> proven_claim(const Secret& token, const Once& once, std::string_view proof);

// Process 0's answer to a proof.
std::string make_answer(const Secret& token, const Once& once);
bool is_answer(const Secret& token, const Once& once, std::string_view answer);

// The CPUs that a process may use.
struct UsableCpus {
  std::string list;     // "0-3,8"; "": not known
  double quota = 0;     // cores; 0: none
  std::string group{};  // control group with the quota, on that kernel; "": not known
};

// An accepted process describes itself.
struct HelloMessage {
  std::string version, host, settings;
  std::int64_t ranks = 1;  // ranks of this process
  std::string boot{};      // boot id of its kernel; "": not known
  UsableCpus cpus{};       // CPUs of its workers
};

std::string spelled(const HelloMessage& introduction);
// Accepts any text. A number that is missing is -1.
HelloMessage parse_introduction(std::string_view text);

// Returns why two processes cannot work together; "": they can. `who`: "process 3 on HOST".
std::string find_difference(const std::string& who, const HelloMessage& hello,
                            const HelloMessage& first);

}  // namespace loaderscope
