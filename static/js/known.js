// @ts-check
// The page of questions with known answers: it plays their clips.
import { ClipLoop } from "./clip-loop.js";

customElements.define("clip-loop", ClipLoop);
