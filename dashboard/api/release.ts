import type { ServedRelease } from "../../src/contract/served-release.ts";
import { useGet } from "./get.ts";

/** The command that installs the command line from this server; null if the server has no release, or is not known yet. */
export function useInstallCommand(): string | null {
  const { data } = useGet<ServedRelease>(["release"], "/release", { staleTime: 60_000 });
  return data?.version ? `curl -fsSL ${window.location.origin}/install.sh | sh` : null;
}
