/** The user that the agent runs as, and the changed user files; null: unchanged. */
export interface User {
  uid: number;
  gid: number;
  passwd: string | null;
  group: string | null;
}

const NAME = "agent";
/** The first id of ordinary users on Linux. */
const FIRST = 1000;

/**
 * The wanted user of an image, or its user `agent`, if it is an ordinary user; else a new ordinary user, who owns nothing in
 * the image and is in no sudoers file.
 */
export function addUser(passwd: string, group: string, wanted: string | null = null): User {
  const users = linesOf(passwd);
  const known = users.find(([name]) => name === NAME);
  for (const name of wanted === null ? [NAME] : [wanted, NAME]) {
    const found = users.find((user) => user[0] === name);
    const [uid, gid] = [Number(found?.[2]), Number(found?.[3])];
    if (uid >= FIRST && gid >= FIRST) return { uid, gid, passwd: null, group: null };
  }
  const taken = new Set([...users, ...linesOf(group)].map(([, , id]) => Number(id)));
  let free = FIRST;
  while (taken.has(free)) free++;
  const name = known || linesOf(group).some(([name]) => name === NAME) ? `svc-${NAME}` : NAME;
  return {
    uid: free,
    gid: free,
    passwd: `${ended(passwd || "root:x:0:0:root:/root:/bin/sh\n")}${name}:x:${free}:${free}::/opt/svc/home:/bin/sh\n`,
    group: `${ended(group || "root:x:0:\n")}${name}:x:${free}:\n`,
  };
}

function linesOf(text: string): string[][] {
  return text.split("\n").map((line) => line.split(":"));
}

function ended(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
