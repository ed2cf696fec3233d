import { join } from "node:path";
import { startModel } from "./model.ts";
import { makeNeighbour } from "./neighbour.ts";

/**
 * A scripted model where sandboxes of a provider reach it. A container reaches nothing of this machine's: for it the model
 * is on a host beside, at `address` (makeNeighbour).
 */
export async function startModelFor(
  provider: string,
  address: string,
): Promise<{ url: string } & AsyncDisposable> {
  if (provider !== "docker") return await startModel();
  const host = await makeNeighbour(address, [process.execPath, join(import.meta.dir, "model-host.ts")]);
  return {
    url: `http://${host.address}:${host.port}/v1`,
    [Symbol.asyncDispose]: async () => host.remove(),
  };
}
