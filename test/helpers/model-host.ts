// The scripted model as a program of its own, on a host beside this one (makeNeighbour).
import { startModel } from "./model.ts";

await startModel({ hostname: "0.0.0.0", port: Number(process.env["NEIGHBOUR_PORT"]) });
process.stdout.write("listening\n");
