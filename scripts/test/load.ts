/** Starts busy loops, which end with this process even when it is killed, where the machine has the words for that. */
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
