// Weather of a report in words. The core has the English ones; the French ones are made here of its codes.
import type { MetarWeather } from "mesonet/report";

import { language } from "../view";

const NOUNS: Readonly<Record<string, string>> = {
  RA: "pluie",
  SN: "neige",
  DZ: "bruine",
  SG: "neige en grains",
  IC: "cristaux de glace",
  PL: "grésil",
  PE: "grésil",
  GR: "grêle",
  GS: "petite grêle",
  UP: "précipitation inconnue",
  BR: "brume",
  FG: "brouillard",
  HZ: "brume sèche",
  FU: "fumée",
  VA: "cendre volcanique",
  DU: "poussière",
  SA: "sable",
  PY: "embruns",
  PO: "tourbillons de poussière",
  SQ: "grains",
  FC: "entonnoir nuageux",
  SS: "tempête de sable",
  DS: "tempête de poussière",
};

/** Codes before another that make one name with it. */
const JOINED: Readonly<Record<string, string>> = {
  FZRA: "pluie verglaçante",
  FZDZ: "bruine verglaçante",
  FZFG: "brouillard givrant",
  BLSN: "poudrerie élevée",
  DRSN: "poudrerie basse",
  BLDU: "chasse-poussière élevée",
  DRDU: "chasse-poussière basse",
  BLSA: "chasse-sable élevée",
  DRSA: "chasse-sable basse",
  BLPY: "embruns soulevés",
  MIFG: "brouillard mince",
  BCFG: "bancs de brouillard",
  PRFG: "brouillard partiel",
};

/** A group of weather in the language of the page. */
export const weatherText = (of: MetarWeather): string => (language.value === "fr" ? french(of) : lower(of.description));

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

function french({ codes, intensity, inVicinity, recent }: MetarWeather): string {
  const [isStorm, isShower] = [codes.includes("TS"), codes.includes("SH")];
  const names: string[] = [];
  let before = "";
  for (const code of codes.filter((one) => one !== "TS" && one !== "SH")) {
    if (NOUNS[code] === undefined) before = code;
    else {
      names.push(JOINED[before + code] ?? NOUNS[code]);
      before = "";
    }
  }
  if (codes.join() === "FC" && intensity === "heavy") return "tornade ou trombe marine";
  const all = names.join(", ").replace(/, ([^,]*)$/, " et $1");
  const showers = isShower ? (all === "" ? "averses" : `averses de ${all}`) : all;
  const whole = isStorm ? (showers === "" ? "orage" : `orage avec ${showers}`) : showers;
  const force = intensity === null ? "" : intensity === "light" ? " d’intensité faible" : " d’intensité forte";
  return `${recent ? "récemment : " : ""}${whole}${force}${inVicinity ? " à proximité" : ""}`;
}
