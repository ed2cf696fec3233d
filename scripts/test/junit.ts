export interface TestCounts {
  passed: number;
  /** Titles. */
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
 * Reads what `bun test --reporter=junit` wrote.
 * @returns by the path of the file of tests, as seen from the folder in which they ran
 */
export function readJunit(xml: string): Map<string, FileReport> {
  const files = new Map<string, FileReport>();
  // a file's suite holds those of its `describe`s, and takes the longest
  for (const [, attributes = ""] of xml.matchAll(SUITE)) {
    const [file, seconds] = [attribute(attributes, "file"), Number(attribute(attributes, "time"))];
    const report = files.get(file) ?? { passed: 0, failed: [], skipped: [], seconds };
    files.set(file, { ...report, seconds: Math.max(seconds, report.seconds) });
  }
  for (const [, attributes = "", ending, body = ""] of xml.matchAll(CASE)) {
    const inner = ending === "/>" ? "" : body;
    const report = files.get(attribute(attributes, "file"));
    if (!report) throw new Error("a report of tests has a case without its file");
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
