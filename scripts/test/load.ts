/** Starts busy loops. On Linux they are killed together with this process. */
export function startLoad(loops: number): { stop(): void } {
  const dying = Bun.which("setpriv") ? ["setpriv", "--pdeathsig=KILL"] : [];
  const children = Array.from({ length: loops }, () =>
    Bun.spawn([...dying, "sh", "-c", "while :; do :; done"], { stdio: ["ignore", "ignore", "ignore"] }),
  );
  return {
    stop() {
      for (const child of children) child.kill("SIGKILL");
    },
  };
}
