// The pictures of a page, from the numbers that they are of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "loaderscope/vocabulary.h"
#include "page/charts.h"
#include "page/escape.h"
#include "page/html_page.h"

namespace loaderscope::page {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> tick_texts(const std::vector<Tick>& ticks) {
  std::vector<std::string> texts;
  for (const Tick& tick : ticks) texts.push_back(tick.text);
  return texts;
}

// A stage's class is its name, whose points a style sheet writes as "\.".
TEST(PageStyle, GivesColourToEachStageAndCause) {
  std::ifstream file(LOADERSCOPE_SOURCE_DIR "/src/page/assets/page.css");
  const std::string style{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> names;
  for (const auto& word : Words<Stage>::table()) {
    if (word.value != Stage::idle) names.emplace_back(word.name);
  }
  for (const auto& word : Words<Cause>::table()) names.emplace_back(word.name);
  for (std::string name : names) {
    if (const std::size_t point = name.find('.'); point != name.npos) name.insert(point, "\\");
    EXPECT_THAT(style, AnyOf(HasSubstr(".k-" + name + " {"), HasSubstr(".k-" + name + ",")));
  }
}

TEST(PageScale, PlacesRoundTicks) {
  EXPECT_THAT(tick_texts(scale_ticks(linear_scale("", Unit::seconds, 0, 0.031), 4)),
              ElementsAre("0", "10 ms", "20 ms", "30 ms"));
  EXPECT_THAT(tick_texts(scale_ticks(linear_scale("", Unit::number, 0, 2667), 4)),
              ElementsAre("0", "1,000", "2,000"));
  EXPECT_THAT(tick_texts(scale_ticks(logarithmic_scale("", Unit::seconds, 2e-5, 0.03), 5)),
              ElementsAre("0.01 ms", "0.1 ms", "1 ms", "10 ms", "100 ms"));
}

TEST(PageScale, UsesOneUnitOnAnAxis) {
  EXPECT_THAT(tick_texts(scale_ticks(linear_scale("", Unit::seconds, 0, 0.0022), 4)),
              ElementsAre("0", "1 ms", "2 ms"));
  EXPECT_THAT(tick_texts(scale_ticks(linear_scale("", Unit::bytes, 0, 1.6e6), 4)),
              ElementsAre("0", "0.5 MB", "1 MB", "1.5 MB"));
  EXPECT_THAT(tick_texts(scale_ticks(linear_scale("", Unit::share, -0.5, 1), 4)),
              ElementsAre("-50 %", "0 %", "50 %", "100 %"));
}

TEST(PageScale, LabelsCountsWithWholeNumbers) {
  EXPECT_THAT(tick_texts(scale_ticks(count_scale("", 0, 2), 6)), ElementsAre("0", "1", "2"));
  EXPECT_THAT(tick_texts(scale_ticks(with_room(count_scale("", 1, 4)), 6)),
              ElementsAre("1", "2", "3", "4"));
}

TEST(PageScale, ClampsValuesAndAcceptsEmptyRange) {
  const Scale scale = linear_scale("", Unit::number, 2, 4);
  EXPECT_EQ(scale.at(1), 0);
  EXPECT_EQ(scale.at(3), 0.5);
  EXPECT_EQ(scale.at(9), 1);
  EXPECT_EQ(linear_scale("", Unit::number, 5, 5).at(5), 0);
  EXPECT_FALSE(scale_ticks(linear_scale("", Unit::number, 0, 0), 4).empty());
}

TEST(PageBars, DrawsPartsToScaleAndListsThem) {
  const std::string html =
      drawn(Bars{"Where",
                 "",
                 {{"a", "", {{"compute", "compute", 1, "1 ms"}, {"decode", "decode", 3, "3 ms"}}},
                  {"b", "", {{"compute", "compute", 2, "2 ms"}}}}});
  EXPECT_THAT(html, HasSubstr("x=\"25.00%\""));
  EXPECT_THAT(html, HasSubstr("width=\"75.00%\""));
  EXPECT_THAT(html, HasSubstr("width=\"50.00%\""));
  EXPECT_THAT(html, HasSubstr("<td>3 ms</td>"));
  EXPECT_THAT(html, HasSubstr("<span>a</span><div><svg"));
  EXPECT_EQ(drawn(Bars{"Where", "", {{"a", "", {}}}}), "");
}

Plot make_plot(Series series, const std::string& interval) {
  Plot plot;
  plot.title = "t";
  plot.x = linear_scale("step", Unit::number, 0, 2);
  plot.y = linear_scale("time", Unit::seconds, 0, 2);
  plot.series = {std::move(series)};
  plot.interval = interval;
  return plot;
}

// The value of a layer excludes the layers below it, and its top is not the end of an interval.
TEST(PagePlot, ListsHeightOfLayerInTable) {
  const std::string html =
      drawn(make_plot({"decode", "decode", Shape::layer, {{1, 0.25, 0.25, 1.75}}}, ""));
  EXPECT_THAT(html, HasSubstr("<td>1.5 s</td></tr>"));
  EXPECT_THAT(html, Not(HasSubstr("250 ms")));
  EXPECT_THAT(html, Not(HasSubstr("95 %")));
}

TEST(PagePlot, NamesIntervalInTable) {
  const std::string points =
      drawn(make_plot({"a", "plain", Shape::points, {{1, 1, 0.5, 2}}}, "slowest to fastest"));
  EXPECT_THAT(points, HasSubstr("<th scope=\"col\">slowest to fastest</th></tr>"));
  EXPECT_THAT(points, HasSubstr("<td>1 s</td><td>500 ms to 2 s</td></tr>"));
}

TEST(PagePlot, CarriesValuesForTheCrosshair) {
  const std::string html =
      drawn(make_plot({"decode", "decode", Shape::layer, {{1, 0, 0.5, 2}}}, ""));
  EXPECT_THAT(html, HasSubstr("data-label=\"step\" data-value-unit=\"s\""));
  EXPECT_THAT(
      html, HasSubstr("<g data-name=\"decode\" data-kind=\"decode\" data-x=\"1\" data-y=\"1.5\">"));
}

TEST(PagePlot, PutsLabelsOnTheRowsOfTheirLines) {
  const std::string html = drawn(make_plot({"a", "plain", Shape::line, {{0, 1}, {2, 1}}}, ""));
  EXPECT_THAT(html, HasSubstr("y1=\"100.0\" y2=\"100.0\""));
  EXPECT_THAT(html, HasSubstr("y=\"104.0\" text-anchor=\"end\">1 s</text>"));
}

TEST(PageTimeline, JoinsBarsBelowVisibleWidth) {
  Lane lane{"worker 0", {}};
  for (int i = 0; i < 100000; ++i)
    lane.bars.push_back({i * 1e-5, i * 1e-5 + 0.9e-5, "decode", "decode"});
  const std::string html = drawn(Timeline{"t", "", 0, 1, {lane}});
  EXPECT_LT(html.size(), 2000u);
  EXPECT_THAT(html, HasSubstr("decode: 900 ms of the time shown"));
}

TEST(Page, EscapesHostileNames) {
  const std::string hostile = "</script><script>alert(1)</script>\x1b[31m\xe2\x80\xae";
  EXPECT_THAT(escape_xml(hostile), Not(HasSubstr("<")));
  EXPECT_THAT(escape_xml(hostile), Not(HasSubstr("\x1b")));
  EXPECT_THAT(escape_xml(hostile), Not(HasSubstr("\xe2\x80\xae")));
  std::ostringstream out;
  write_sheet(out, {hostile, "", "{\"a\": \"" + std::string("</script>") + "\"}"});
  EXPECT_THAT(out.str(), HasSubstr("{\"a\": \"\\u003c/script>\"}"));
  EXPECT_THAT(out.str(), Not(HasSubstr("alert(1)</script>")));
}

}  // namespace
}  // namespace loaderscope::page
