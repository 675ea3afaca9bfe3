// The invented shoppers of the sandbox: who an order is delivered to. Chosen by the order number
// alone, so that the same order always shows the same person. No real person, address or number;
// the mail addresses end in the reserved domain `example`.

import { hashText, pick } from './random.js';

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
  readonly cities: readonly (readonly [city: string, state: string, postalCode: string])[];
}

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

/** The shopper of an order number. */
export function shopperOf(orderNo: string): Shopper {
  const bits = hashText(orderNo);
  const part = (shift: number): number => ((bits >>> shift) & 0xff) / 0x100;
  const country = pick(COUNTRIES, part(0));
  const [city, state, postalCode] = pick(country.cities, part(5));
  return {
    firstName: pick(country.firstNames, part(10)),
    lastName: pick(country.lastNames, part(15)),
    street: `${pick(country.streets, part(20))} ${1 + (bits % 120)}`,
    city,
    state,
    postalCode,
    country: country.code,
    email: `shopper${bits % 1_000_000}@mail.example`,
    phone: `${country.dial} 555 ${String(bits % 10_000).padStart(4, '0')}`,
  };
}
