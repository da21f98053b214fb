// @ts-check
// The page of workers: it keeps up with what they do.
import { refresh } from "./fresh.js";

const EVERY = 2000; // ms

setInterval(() => refresh(["[data-workers]"]), EVERY);
