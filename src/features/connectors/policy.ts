import type { PolicyAction } from "../../contract/connector.ts";
import type { ConnectorPolicy } from "../../contract/manifest/connectors.ts";

/**
 * What a connector's policies say of a tool, or of a request such as `GET /repos/a`, by one of its names: the first that
 * matches decides; none: deny, or allow if there are no policies (contract: Models, connectors, channels).
 */
export function decide(policies: readonly ConnectorPolicy[], ...subjects: readonly string[]): PolicyAction {
  if (policies.length === 0) return "allow";
  const first = policies.find(({ match }) => subjects.some((subject) => matches(match, subject)));
  return first?.action ?? "deny";
}

/** Whether a pattern matches the whole text. `*` matches any characters. Takes linear time, unlike an expression. */
export function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false;
  let from = first.length;
  const end = text.length - last.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
