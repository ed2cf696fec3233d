/** The servers of the tests, as one program that `npm test` compiles: svc-api itself, or one that halts or dies at a step. */
const SERVERS: Readonly<Record<string, () => Promise<unknown>>> = {
  api: () => import("../../src/main.ts"),
  halting: () => import("./halting-server.ts"),
  dying: () => import("./dying-server.ts"),
  restore: () => import("./dying-restore.ts"),
  trigger: () => import("./trigger-server.ts"),
};
// without this name, the arguments are those of svc-api
const [wanted = ""] = process.argv.splice(2, 1);
const start = SERVERS[wanted];
if (!start) throw new Error(`"${wanted}" is not a server of the tests`);
await start();

export {};
