/**
 * Why a project's Dockerfile is not allowed, or null. The engine itself downloads the URL of an `ADD`, without the network
 * policy of sandboxes, and could reach cloud metadata services and private networks. `RUN curl` is subject to the policy.
 */
export function dockerfileFault(text: string): string | null {
  const adds = instructionsOf(text)
    .map((instruction) => /^(?:onbuild\s+)*add\s(.*)$/is.exec(instruction)?.[1])
    .filter((args) => args !== undefined);
  for (const args of adds) {
    if (/:\/\/|^git@|\s"?git@/i.test(args)) {
      return "ADD of a URL is not allowed, because Docker itself would download it: use RUN curl, or COPY a file of the repository";
    }
    // the source is known only at build time
    if (/\$|^\s*(?:--\S+\s+)*\[.*\\/s.test(args)) return "ADD with a variable is not allowed: use COPY";
  }
  return null;
}

/** Instructions with their continuation lines, as Docker's parser joins them (Dockerfile reference, Format). */
function instructionsOf(text: string): string[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const continued = escapeOf(lines) === "`" ? /`[ \t]*$/ : /\\[ \t]*$/;
  const instructions: string[] = [];
  let open = "";
  for (const line of lines) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    open += line.replace(continued, "");
    if (continued.test(line)) continue;
    instructions.push(open.trim());
    open = "";
  }
  return [...instructions, open.trim()];
}

/** The escape character. Parser directives precede everything else. */
function escapeOf(lines: readonly string[]): string {
  for (const line of lines) {
    const [, name = "", value = ""] = /^\s*#\s*([a-z]+)\s*=\s*(\S+)\s*$/i.exec(line) ?? [];
    if (name === "") return "\\";
    if (name.toLowerCase() === "escape") return value;
  }
  return "\\";
}
