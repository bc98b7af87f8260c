#include "report/glossary_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "manual/metrics.h"
#include "page/escape.h"

namespace loaderscope {
namespace {

using manual::WordEntry;

constexpr std::string_view kWordLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_.";

std::optional<WordEntry> find_entry(std::string_view family, std::string_view name) {
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
  if (is_of_whys) return find_entry("why", word);
  if (word.find('-') == word.npos) return std::nullopt;
  const std::optional<WordEntry> finding = find_entry("finding", word);
  return finding ? finding : find_entry("gap", word);
}

std::string entry_place(const WordEntry& entry) {
  return fmt::format("word-{}-{}", entry.family, entry.name);
}

bool begins_with_label(std::string_view line) {
  return std::any_of(std::begin(manual::kWordLabels), std::end(manual::kWordLabels),
                     [&](std::string_view label) { return line.starts_with(label); });
}

// One paragraph per label; text between backquotes is code.
std::string paragraphs(std::string_view text) {
  std::string html = "<p>";
  bool is_code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') {
      is_code = !is_code;
      html += is_code ? "<code>" : "</code>";
    } else if (text[i] == '\n') {
      html += begins_with_label(text.substr(i + 1)) ? "</p>\n<p>" : " ";
    } else {
      html += escape_xml(text.substr(i, 1));
    }
  }
  return html + "</p>\n";
}

}  // namespace

std::string GlossaryLinks::link(const WordEntry& entry, std::string_view text) {
  const std::string place = entry_place(entry);
  if (std::none_of(met_.begin(), met_.end(),
                   [&](const WordEntry& one) { return entry_place(one) == place; }))
    met_.push_back(entry);
  return fmt::format("<a class=\"word\" href=\"#{}\">{}</a>", escape_xml(place), escape_xml(text));
}

std::string GlossaryLinks::link_prose(std::string_view text, bool is_of_whys) {
  std::string html;
  std::size_t written = 0;  // up to here it is in `html`
  for (std::size_t at = text.find_first_of(kWordLetters); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kWordLetters, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (const auto entry = entry_in_prose(word, is_of_whys)) {
      html += escape_xml(text.substr(written, at - written)) + link(*entry, word);
      written = end;
    }
    at = text.find_first_of(kWordLetters, end);
  }
  return html + escape_xml(text.substr(written));
}

std::string GlossaryLinks::link_cell(std::string_view text) {
  std::optional<WordEntry> entry = find_entry("cause", text);
  if (!entry) entry = find_entry("account", text);
  if (!entry) entry = entry_in_prose(text, false);
  if (!entry && text.find('.') != text.npos) entry = entry_of_metric(text);
  return entry ? link(*entry, text) : escape_xml(text);
}

std::string GlossaryLinks::section() const {
  if (met_.empty()) return "";
  std::string html = "<section>\n<h2>What these words mean</h2>\n<dl class=\"words\">\n";
  for (const WordEntry& entry : met_) {
    html += fmt::format("<div><dt id=\"{}\">{} <small>{}</small></dt><dd>{}</dd></div>\n",
                        escape_xml(entry_place(entry)), escape_xml(entry.name),
                        escape_xml(entry.family), paragraphs(entry.text));
  }
  return html + "</dl>\n</section>\n";
}

}  // namespace loaderscope
