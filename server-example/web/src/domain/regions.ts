// The names of provinces and states: in both languages where they differ.

const NAMES: Readonly<Record<"CA" | "US", string>> = {
  CA:
    "AB Alberta|BC British Columbia/Colombie-Britannique|MB Manitoba|NB New Brunswick/Nouveau-Brunswick|NL Newfoundland and Labrador/Terre-Neuve-et-Labrador|" +
    "NS Nova Scotia/Nouvelle-Écosse|NT Northwest Territories/Territoires du Nord-Ouest|NU Nunavut|ON Ontario|PE Prince Edward Island/Île-du-Prince-Édouard|QC Québec|" +
    "SK Saskatchewan|YT Yukon",
  US:
    "AK Alaska|AL Alabama|AR Arkansas|AZ Arizona|CA California/Californie|CO Colorado|CT Connecticut|DC District of Columbia/District de Columbia|DE Delaware|" +
    "FL Florida/Floride|GA Georgia/Géorgie|HI Hawaii/Hawaï|IA Iowa|ID Idaho|IL Illinois|IN Indiana|KS Kansas|KY Kentucky|LA Louisiana/Louisiane|MA Massachusetts|" +
    "MD Maryland|ME Maine|MI Michigan|MN Minnesota|MO Missouri|MS Mississippi|MT Montana|NC North Carolina/Caroline du Nord|ND North Dakota/Dakota du Nord|" +
    "NE Nebraska|NH New Hampshire|NJ New Jersey|NM New Mexico/Nouveau-Mexique|NV Nevada|NY New York|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania/Pennsylvanie|" +
    "RI Rhode Island|SC South Carolina/Caroline du Sud|SD South Dakota/Dakota du Sud|TN Tennessee|TX Texas|UT Utah|VA Virginia/Virginie|VT Vermont|WA Washington|" +
    "WI Wisconsin|WV West Virginia/Virginie-Occidentale|WY Wyoming",
};

const both = Object.fromEntries(
  Object.entries(NAMES).map(([country, all]) => [country, new Map(all.split("|").map((one) => [one.slice(0, 2), one.slice(3).split("/")]))]),
);

/** The name of a province or state; its code if it is not known. */
export function regionName(country: "CA" | "US", code: string, language: "en" | "fr"): string {
  const [en, fr] = both[country]?.get(code) ?? [];
  return (language === "fr" ? (fr ?? en) : en) ?? code;
}

/** A province or state by one of its names, as country and code. */
export function regionCalled(name: string): string | undefined {
  for (const [country, all] of Object.entries(both)) for (const [code, names] of all) if (names.includes(name)) return `${country} ${code}`;
  return undefined;
}
