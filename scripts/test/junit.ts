export interface TestCounts {
  passed: number;
  /** Titles. */
  failed: string[];
  skipped: string[];
}

/** Reads what `bun test --reporter=junit` wrote. */
export function readJunit(xml: string): TestCounts {
  const counts: TestCounts = { passed: 0, failed: [], skipped: [] };
  for (const [, attributes = "", ending, body = ""] of xml.matchAll(
    /<testcase\b((?:\s+[\w:-]+="[^"]*")*)\s*(\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const inner = ending === "/>" ? "" : body;
    const title = unescapeXml(/\sname="([^"]*)"/.exec(attributes)?.[1] ?? "");
    if (/<(failure|error)\b/.test(inner)) counts.failed.push(title);
    else if (/<skipped\b/.test(inner)) counts.skipped.push(title);
    else counts.passed++;
  }
  return counts;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
