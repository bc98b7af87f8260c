#include "report/glossary_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "manual/metrics.h"
#include "page/escape.h"

namespace loaderscope {
namespace {

using manual::WordEntry;

constexpr std::string_view kOfWords = "abcdefghijklmnopqrstuvwxyz0123456789-_.";

std::optional<WordEntry> entry_of(std::string_view family, std::string_view name) {
  const WordEntry* const entry = manual::find_word(family, name);
  return entry == nullptr ? std::nullopt : std::optional(*entry);
}

// Returns the entry of the metric's group, which has the basis of all its metrics.
std::optional<WordEntry> entry_of_metric(std::string_view name) {
  const manual::MetricEntry* const metric = manual::metric_entry(name);
  if (metric == nullptr) return std::nullopt;
  return WordEntry{"metric", metric->name.substr(0, metric->name.find('.')), metric->basis};
}

// Finds names with a hyphen, because other words may be everyday words.
std::optional<WordEntry> entry_in_prose(std::string_view word, bool is_of_whys) {
  if (is_of_whys) return entry_of("why", word);
  if (word.find('-') == word.npos) return std::nullopt;
  const std::optional<WordEntry> finding = entry_of("finding", word);
  return finding ? finding : entry_of("gap", word);
}

std::string place_of(const WordEntry& entry) {
  return fmt::format("word-{}-{}", entry.family, entry.name);
}

bool begins_with_label(std::string_view line) {
  return std::any_of(std::begin(manual::kWordLabels), std::end(manual::kWordLabels),
                     [&](std::string_view label) { return line.starts_with(label); });
}

// One paragraph per label; text between backquotes is code.
std::string in_paragraphs(std::string_view text) {
  std::string html = "<p>";
  bool is_code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') {
      is_code = !is_code;
      html += is_code ? "<code>" : "</code>";
    } else if (text[i] == '\n') {
      html += begins_with_label(text.substr(i + 1)) ? "</p>\n<p>" : " ";
    } else {
      html += in_xml(text.substr(i, 1));
    }
  }
  return html + "</p>\n";
}

}  // namespace

std::string GlossaryLinks::link(const WordEntry& entry, std::string_view text) {
  const std::string place = place_of(entry);
  if (std::none_of(met_.begin(), met_.end(),
                   [&](const WordEntry& one) { return place_of(one) == place; }))
    met_.push_back(entry);
  return fmt::format("<a class=\"word\" href=\"#{}\">{}</a>", in_xml(place), in_xml(text));
}

std::string GlossaryLinks::in_prose(std::string_view text, bool is_of_whys) {
  std::string html;
  std::size_t told = 0;  // up to here it is in `html`
  for (std::size_t at = text.find_first_of(kOfWords); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kOfWords, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (const auto entry = entry_in_prose(word, is_of_whys)) {
      html += in_xml(text.substr(told, at - told)) + link(*entry, word);
      told = end;
    }
    at = text.find_first_of(kOfWords, end);
  }
  return html + in_xml(text.substr(told));
}

std::string GlossaryLinks::in_cell(std::string_view text) {
  std::optional<WordEntry> entry = entry_of("cause", text);
  if (!entry) entry = entry_of("account", text);
  if (!entry) entry = entry_in_prose(text, false);
  if (!entry && text.find('.') != text.npos) entry = entry_of_metric(text);
  return entry ? link(*entry, text) : in_xml(text);
}

std::string GlossaryLinks::section() const {
  if (met_.empty()) return "";
  std::string html = "<section>\n<h2>What these words mean</h2>\n<dl class=\"words\">\n";
  for (const WordEntry& entry : met_) {
    html += fmt::format("<div><dt id=\"{}\">{} <small>{}</small></dt><dd>{}</dd></div>\n",
                        in_xml(place_of(entry)), in_xml(entry.name), in_xml(entry.family),
                        in_paragraphs(entry.text));
  }
  return html + "</dl>\n</section>\n";
}

}  // namespace loaderscope
