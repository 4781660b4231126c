import { shortForms } from '../support/short-form.js';

await shortForms('crashes');
