export interface TestCounts {
  passed: number;
  /** The titles of the tests. */
  failed: string[];
  skipped: string[];
}

export interface FileReport extends TestCounts {
  seconds: number;
}

const ATTRIBUTES = String.raw`((?:\s+[\w:-]+="[^"]*")*)\s*`;
const CASE = new RegExp(`<testcase\\b${ATTRIBUTES}(/>|>([\\s\\S]*?)</testcase>)`, "g");
const SUITE = new RegExp(`<testsuite\\b${ATTRIBUTES}>`, "g");

/**
 * Parses the report of `bun test --reporter=junit`.
 * @returns the results by the path of the test file, relative to the working directory
 */
export function readJunit(xml: string): Map<string, FileReport> {
  const files = new Map<string, FileReport>();
  // the suite of a file contains those of its `describe` blocks
  for (const [, attributes = ""] of xml.matchAll(SUITE)) {
    const [file, seconds] = [attribute(attributes, "file"), Number(attribute(attributes, "time"))];
    const report = files.get(file) ?? { passed: 0, failed: [], skipped: [], seconds };
    files.set(file, { ...report, seconds: Math.max(seconds, report.seconds) });
  }
  for (const [, attributes = "", ending, body = ""] of xml.matchAll(CASE)) {
    const inner = ending === "/>" ? "" : body;
    const report = files.get(attribute(attributes, "file"));
    if (!report) throw new Error("a test case in the report has no file");
    const title = attribute(attributes, "name");
    if (/<(failure|error)\b/.test(inner)) report.failed.push(title);
    else if (/<skipped\b/.test(inner)) report.skipped.push(title);
    else report.passed++;
  }
  return files;
}

function attribute(attributes: string, name: string): string {
  return unescapeXml(new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
