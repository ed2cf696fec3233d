import { expect, test } from "bun:test";
import { readJunit } from "../../../scripts/test/junit.ts";

test("a report's passed, failed and skipped tests are counted, whatever their titles hold", () => {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="5" failures="2" skipped="2">
  <testsuite name="a"><testsuite name="d">
    <testcase name="ok &lt;testcase name=&quot;x&quot;/&gt;" classname="d" time="0" assertions="0" />
    <testcase name="left &amp;lt; out" classname="d" time="0">
      <skipped />
    </testcase>
    <testcase name="bad" classname="d"><failure type="E" message="a &lt;skipped/&gt;">&lt;/testcase&gt;</failure></testcase>
    <testcase name="worse" classname="d">
      <failure type="E" message="x">text</failure>
    </testcase>
  </testsuite></testsuite>
</testsuites>`;
  expect(readJunit(xml)).toEqual({ passed: 1, failed: ["bad", "worse"], skipped: ["left &lt; out"] });
});
