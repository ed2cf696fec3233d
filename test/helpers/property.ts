import fc from "fast-check";
import { SEED } from "./random.ts";

fc.configureGlobal({ seed: SEED });

/** fast-check, drawing from the run's seed. */
export { fc };
