/** The servers of the fault tests, as one program that `npm test` compiles: `halting`, `dying` or `trigger`. */
const SERVERS: Readonly<Record<string, () => Promise<unknown>>> = {
  halting: () => import("./halting-server.ts"),
  dying: () => import("./dying-server.ts"),
  trigger: () => import("./trigger-server.ts"),
};
const wanted = process.argv[2] ?? "";
const start = SERVERS[wanted];
if (!start) throw new Error(`"${wanted}" is not a server of the tests`);
await start();

export {};
