// The scripted model as a separate program, on a neighbouring host (makeNeighbour).
import { startModel } from "./model.ts";

await startModel({ hostname: "0.0.0.0", port: Number(process.env["NEIGHBOUR_PORT"]) });
process.stdout.write("listening\n");
