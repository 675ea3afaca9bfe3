// The invented shoppers of the sandbox: who an order is delivered to. Chosen by the order number
// alone, so that the same order always shows the same person. No real person, address or number;
// the mail addresses end in the reserved domain `example`.

import { hashText } from './random.js';

export interface Shopper {
  readonly firstName: string;
  readonly lastName: string;
  readonly street: string;
  readonly city: string;
  readonly state: string;
  readonly postalCode: string;
  readonly country: string;
  readonly email: string;
  readonly phone: string;
}

interface Country {
  readonly code: string;
  readonly dial: string;
  readonly firstNames: readonly string[];
  readonly lastNames: readonly string[];
  readonly streets: readonly string[];
  readonly cities: readonly City[];
}

type City = readonly [city: string, state: string, postalCode: string];

const [COUNTRY, CITY, FIRST_NAME, LAST_NAME, STREET] = [0, 5, 10, 15, 20] as const;
const HOUSES = 120;
const EMAILS = 1_000_000;

const COUNTRIES: readonly Country[] = [
  {
    code: 'DE',
    dial: '+49',
    firstNames: ['Jürgen', 'Käthe', 'Sören', 'Anna', 'Björn', 'Lena', 'Götz', 'Mareike'],
    lastNames: ['Müller', 'Weiß', 'Schröder', 'Becker', 'Jäger', 'Hoffmann', 'Groß', 'Lübke'],
    streets: ['Hauptstraße', 'Gartenweg', 'Am Mühlbach', 'Lindenallee', 'Schloßplatz'],
    cities: [
      ['Berlin', 'BE', '10115'],
      ['München', 'BY', '80331'],
      ['Köln', 'NW', '50667'],
      ['Görlitz', 'SN', '02826'],
    ],
  },
  {
    code: 'FR',
    dial: '+33',
    firstNames: ['Zoé', 'François', 'Hélène', 'Maël', 'Chloé', 'Benoît', 'Anaïs', 'Luc'],
    lastNames: ['Lefèvre', 'Dubois', 'Garçon', 'Moreau', 'Gérard', 'Besançon', 'Noël', 'Petit'],
    streets: ["rue de l'Église", 'avenue du Château', 'rue des Frênes', 'quai Saint-Père'],
    cities: [
      ['Paris', 'IDF', '75011'],
      ['Orléans', 'CVL', '45000'],
      ['Besançon', 'BFC', '25000'],
    ],
  },
  {
    code: 'PL',
    dial: '+48',
    firstNames: ['Łukasz', 'Małgorzata', 'Paweł', 'Agnieszka', 'Józef', 'Kinga', 'Świętosława'],
    lastNames: ['Wójcik', 'Żukowska', 'Dąbrowski', 'Król', 'Łęcka', 'Wiśniewski', 'Gołąb'],
    streets: ['ul. Długa', 'ul. Świętojańska', 'al. Róż', 'ul. Młyńska'],
    cities: [
      ['Kraków', 'MA', '30-001'],
      ['Łódź', 'LD', '90-001'],
      ['Gdańsk', 'PM', '80-831'],
    ],
  },
];

/** A country's texts as they stand in an entry, joined as far as they belong together. */
interface PrintedCountry {
  readonly streets: readonly string[];
  /** From the house number to the first name. */
  readonly afterHouse: readonly string[];
  /** All first names with the first last name, then with the second, and so on. */
  readonly names: readonly string[];
  /** From the last name to the end of delivery_information. */
  readonly afterName: readonly string[];
  readonly phone: string;
}

const PRINTED: readonly PrintedCountry[] = COUNTRIES.map((country) => ({
  streets: country.streets.map((street) => asBytes(`"delivery_address":"${street} `)),
  afterHouse: country.cities.map(([city]) =>
    asBytes(
      `","delivery_city":"${city}","delivery_country":"${country.code}","delivery_firstname":"`,
    ),
  ),
  names: country.lastNames.flatMap((last) =>
    country.firstNames.map((first) => asBytes(`${first}","delivery_lastname":"${last}`)),
  ),
  afterName: country.cities.map(
    ([, state, code]) => `","delivery_postal_code":"${code}","delivery_state":"${state}"}`,
  ),
  phone: `@mail.example","shopper_phone":"${country.dial} 555 `,
}));

/** A text whose characters are the bytes of the UTF-8 of another, see entries.ts. */
export function asBytes(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The shopper of an order number. */
export function shopperOf(orderNo: string): Shopper {
  const bits = hashText(orderNo);
  const country = COUNTRIES[choice(bits, COUNTRY, COUNTRIES.length)] as Country;
  const { cities, firstNames, lastNames, streets } = country;
  const [city, state, postalCode] = cities[choice(bits, CITY, cities.length)] as City;
  return {
    firstName: firstNames[choice(bits, FIRST_NAME, firstNames.length)] as string,
    lastName: lastNames[choice(bits, LAST_NAME, lastNames.length)] as string,
    street: `${streets[choice(bits, STREET, streets.length)]} ${houseNumber(bits)}`,
    city,
    state,
    postalCode,
    country: country.code,
    email: `shopper${bits % EMAILS}@mail.example`,
    phone: `${country.dial} 555 ${fourDigits(bits)}`,
  };
}

/** The same shopper as an entry shows it: the inside of delivery_information and its end. */
export function printedDelivery(bits: number): string {
  const at = choice(bits, COUNTRY, COUNTRIES.length);
  const { firstNames, lastNames } = COUNTRIES[at] as Country;
  const { streets, afterHouse, names, afterName } = PRINTED[at] as PrintedCountry;
  const city = choice(bits, CITY, afterHouse.length);
  const first = choice(bits, FIRST_NAME, firstNames.length);
  const last = choice(bits, LAST_NAME, lastNames.length);
  return (
    `${streets[choice(bits, STREET, streets.length)]}${houseNumber(bits)}${afterHouse[city]}` +
    `${names[last * firstNames.length + first]}${afterName[city]}`
  );
}

/** shopper_email and shopper_phone from the number of the mail address to that of the phone. */
export function printedContact(bits: number): string {
  const { phone } = PRINTED[choice(bits, COUNTRY, PRINTED.length)] as PrintedCountry;
  return `${bits % EMAILS}${phone}${fourDigits(bits)}`;
}

/** Choices are overlapping bytes of one hash. */
function choice(bits: number, shift: number, among: number): number {
  return (((bits >>> shift) & 0xff) * among) >>> 8;
}

function houseNumber(bits: number): number {
  return 1 + (bits % HOUSES);
}

function fourDigits(bits: number): string {
  const digits = bits % 10_000;
  return digits < 1_000 ? String(digits).padStart(4, '0') : `${digits}`;
}
