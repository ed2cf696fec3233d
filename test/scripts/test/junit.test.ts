import { expect, test } from "bun:test";
import { readJunit } from "../../../scripts/test/junit.ts";

test("counts passed, failed and skipped tests of a report by file, with any titles", () => {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="6" failures="2" skipped="2">
  <testsuite name="a" file="test/a.test.ts" tests="4" time="2.5" hostname="vm"><testsuite name="d" file="test/a.test.ts" time="0.5">
    <testcase name="ok &lt;testcase name=&quot;x&quot;/&gt;" classname="d" time="0" file="test/a.test.ts" assertions="0" />
    <testcase name="left &amp;lt; out" classname="d" file="test/a.test.ts" time="0">
      <skipped />
    </testcase>
    <testcase name="bad" classname="d" file="test/a.test.ts"><failure type="E" message="a &lt;skipped/&gt;">&lt;/testcase&gt;</failure></testcase>
    <testcase name="worse" classname="d" file="test/a.test.ts">
      <failure type="E" message="x">text</failure>
    </testcase>
  </testsuite></testsuite>
  <testsuite name="&lt;b" file="test/&lt;b.test.ts" time="0.25">
    <testcase name="fine" time="0" file="test/&lt;b.test.ts" />
  </testsuite>
</testsuites>`;
  expect(Object.fromEntries(readJunit(xml))).toEqual({
    "test/a.test.ts": { passed: 1, failed: ["bad", "worse"], skipped: ["left &lt; out"], seconds: 2.5 },
    "test/<b.test.ts": { passed: 1, failed: [], skipped: [], seconds: 0.25 },
  });
});
