#include "loaderscope/errors.h"

#include <algorithm>
#include <cctype>

#include "base/printable.h"
#include "base/secret.h"

namespace loaderscope {
namespace {

// Spellings are compared without regard to case and to '-' or '_'.
std::string folded(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

// Damerau-Levenshtein: insertions, deletions, substitutions and swaps of neighbours each count one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

constexpr std::string_view kHintLine = "\nhint: ";
constexpr std::string_view kBetween = "; ";

std::string one_line(std::string text) {
  const std::size_t at = text.find(kHintLine);
  return at == text.npos ? text : text.replace(at, kHintLine.size(), kBetween);
}

constexpr std::size_t kMaxWord = 64;  // no word of ours is longer; keeps the distance cheap

}  // namespace

Error::Error(const std::string& text)
    : std::runtime_error(one_line(text)),
      sentence_size_(std::min(text.find(kHintLine), text.size())) {}

Error::Error(const std::string& sentence, const std::string& hint)
    : std::runtime_error(hint.empty() ? sentence : sentence + std::string(kBetween) + hint),
      sentence_size_(sentence.size()) {}

std::string_view Error::sentence() const {
  return std::string_view(what()).substr(0, sentence_size_);
}

std::string_view Error::hint() const {
  const std::string_view text = what();
  return text.size() <= sentence_size_ ? "" : text.substr(sentence_size_ + kBetween.size());
}

std::string Error::message() const {
  const std::string_view advice = hint();
  if (advice.empty()) return what();
  return std::string(sentence()) + std::string(kHintLine) + std::string(advice);
}

std::string nearest_word(std::string_view word, const std::vector<std::string_view>& candidates) {
  if (word.empty() || word.size() > kMaxWord) return "";
  const std::string wanted = folded(word);
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string_view best, best_continued;
  for (std::string_view candidate : candidates) {
    const std::string known = folded(candidate);
    const std::size_t distance = edit_distance(wanted, known);
    // One letter for another would make any two words of one letter alike.
    if (distance < best_distance && distance < std::max(wanted.size(), known.size())) {
      best_distance = distance;
      best = candidate;
    }
    const bool continues = wanted.size() >= 2 && known.starts_with(wanted);
    if (continues && (best_continued.empty() || candidate.size() < best_continued.size())) {
      best_continued = candidate;
    }
  }
  return std::string(best_continued.empty() ? best : best_continued);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string nearest = nearest_word(word, candidates);
  return nearest.empty() ? "" : "did you mean '" + nearest + "'?";
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string hint = did_you_mean(word, candidates);
  return hint.empty() ? "" : "; " + hint;
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t kMaxLength = 80;
  const std::string open = without_secrets(text);
  const std::string shown = printable(std::string_view(open).substr(0, kMaxLength));
  return open.size() > kMaxLength ? shown + "..." : shown;
}

std::string_view name_of(SampleError::Kind kind) {
  switch (kind) {
    case SampleError::Kind::unreadable:
      return "unreadable";
    case SampleError::Kind::not_allowed:
      return "not_allowed";
    case SampleError::Kind::timed_out:
      return "timed_out";
    case SampleError::Kind::throttled:
      return "throttled";
    case SampleError::Kind::truncated:
      return "truncated";
    case SampleError::Kind::damaged:
      return "damaged";
    case SampleError::Kind::unsupported:
      return "unsupported";
    case SampleError::Kind::too_large:
      return "too_large";
  }
  return "?";
}

}  // namespace loaderscope
