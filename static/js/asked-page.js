// @ts-check
// The page of the questions that were answered: plays their clips.
import { DuoPlayer } from "./duo-player.js";
import { loadPlayers } from "./question-players.js";

customElements.define("duo-player", DuoPlayer);
loadPlayers(document);
