/** Such as `Firefox on Linux`. The order matters: browsers also claim to be others. */
export function browserName(agent: string): string {
  const find = (names: readonly (readonly [string, string])[], other: string) =>
    names.find(([word]) => agent.includes(word))?.[1] ?? other;
  const browser = find(
    [
      ["Edg/", "Edge"],
      ["Firefox/", "Firefox"],
      ["Chrome/", "Chrome"],
      ["Safari/", "Safari"],
    ],
    "Browser",
  );
  const system = find(
    [
      ["Android", "Android"],
      ["iPhone", "iOS"],
      ["iPad", "iOS"],
      ["Mac OS", "macOS"],
      ["Windows", "Windows"],
      ["Linux", "Linux"],
    ],
    "another system",
  );
  return `${browser} on ${system}`;
}
