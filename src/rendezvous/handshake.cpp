#include "rendezvous/handshake.h"

#include <fmt/format.h>

#include <charconv>

#include "base/secret.h"

namespace loaderscope {
namespace {

constexpr std::string_view kOurs = "loaderscope meeting 4\n";
constexpr std::size_t kCodeBytes = 32;

// `who` keeps one side's code from being used as the other's.
std::string code_of(const Secret& token, std::string_view who, const Once& once,
                    std::string_view text) {
  std::string all(kOurs);
  all.append(who).append("\n").append(once.of_comer).append(once.of_first).append(text);
  return hmac_sha256(token, all);
}

std::string code_of_comer(const Secret& token, const Once& once, std::string_view text) {
  return code_of(token, "comer", once, text);
}

// "NUMBER PROCESSES JOB"
std::optional<Claim> parse_claim(std::string_view text) {
  Claim claim;
  for (std::int64_t* number : {&claim.number, &claim.processes}) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    if (error != std::errc() || end == text.data() + text.size() || *end != ' ')
      return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
  claim.job = text;
  return claim;
}

}  // namespace

std::string digest_of_job(const std::string& name) { return hex_of(sha256(name)); }

std::string hello_of(const std::string& once) { return std::string(kOurs) + once; }

std::optional<std::string> once_in_hello(std::string_view hello) {
  if (!hello.starts_with(kOurs) || hello.size() != kOurs.size() + kOnceBytes) return std::nullopt;
  return std::string(hello.substr(kOurs.size()));
}

std::string proof_of(const Secret& token, const Once& once, const Claim& claim) {
  const std::string text = fmt::format("{} {} {}", claim.number, claim.processes, claim.job);
  return code_of_comer(token, once, text) + text;
}

std::optional<Claim> proven_claim(const Secret& token, const Once& once, std::string_view proof) {
  if (proof.size() < kCodeBytes) return std::nullopt;
  const std::string_view text = proof.substr(kCodeBytes);
  if (!are_same_code(proof.substr(0, kCodeBytes), code_of_comer(token, once, text)))
    return std::nullopt;
  return parse_claim(text);
}

std::string answer_of(const Secret& token, const Once& once) {
  return code_of(token, "first", once, "");
}

bool is_answer(const Secret& token, const Once& once, std::string_view answer) {
  return are_same_code(answer, answer_of(token, once));
}

}  // namespace loaderscope
