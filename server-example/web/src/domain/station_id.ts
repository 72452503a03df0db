/** Whether a text is the id of a station, and not one of its other identifiers. */
export const isStationId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
