/* link: -lwcs */
/* Places in the sky, by WCSLIB. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <wcslib/wcs.h>
#include <wcslib/wcsfix.h>
#include <wcslib/wcshdr.h>
#include <wcslib/wcsmath.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/picture/world.h"

enum { CARD = 80 };

#define AXIS "(0?[1-9]|1[0-6])"
enum { NAMES, VALUES, CELESTIAL, PATTERNS };
static const char *const patterns[] = {
    [NAMES] = "^fits\\.(C(RPIX|RVAL|DELT|TYPE|UNIT|ROTA)" AXIS "|(CD|PC)(" AXIS "_" AXIS
	      "|00[1-9]00[1-9])|P[VS]" AXIS "_[0-9]{1,2}|[AB]_([0-9]_[0-9]|ORDER)|"
	      "WAT[1-9]_[0-9]{3}|LONPOLE|LATPOLE|RADESYS|EQUINOX|EPOCH|AMD[XY][0-9]{1,2}|PPO[1-6]|"
	      "CNPIX[12]|PLT(RA[HMS]|DEC(SN|[DMS]))|[XY]PIXELSZ)$",
    [VALUES] = "^('[ -&(-~]*'|[-+]?[0-9.]+([EeDd][-+]?[0-9]{1,3})?)( |/|$)",
    [CELESTIAL] = "^'(RA|DEC|.LON|.LAT|..LN|..LT)[- ']"};

static bool
matches(const regex_t *r, const char *text, regmatch_t at[2])
{
	errno = 0;
	const bool is = !regexec(r, text, 2, at, 0);
	if (!is && errno == ENOMEM) /* glibc returns REG_NOMATCH then */
		die("no memory for a pattern");
	return is;
}

/*
 * Makes the card of WCSLIB from key i of x, or returns false. WCSLIB 7.12 reads beyond a card whose string does not end, and takes
 * memory for as many axes as a card names. So it gets the cards of the primary WCS alone, with axes up to 16 and whole values. Axes
 * beside the sky have no CTYPE. SIP counts where CTYPE does not name it, and PV beside it does not, as in astropy.
 */
static bool
make_card(const struct img *x, size_t i, const regex_t r[PATTERNS], char card[CARD + 1])
{
	const bool sip = img_key(x, "fits.A_ORDER");
	const char *key = x->key[i].name, *name = key + 5, *v = x->key[i].value;
	regmatch_t at[2];

	/* Of cards of one name the last counts. */
	if (!matches(&r[NAMES], key, at) || img_key(x, key) != v ||
	    (sip && !strncmp(name, "PV", 2)))
		return false;
	v += *v == '=';
	v += strspn(v, " ");
	if (!matches(&r[VALUES], v, at) || at[1].rm_eo > CARD - 10)
		return false;
	snprintf(card, CARD + 1, "%-8s= %-70.*s", name, (int)at[1].rm_eo, v);
	if (strncmp(name, "CTYPE", 5))
		return true;
	if (sip && !strncmp(v + 5, "-TAN", 4))
		memcpy(card + 10 + 9, "-SIP'", 5);
	return matches(&r[CELESTIAL], v, at);
}

const char *
world_find_sky(struct world *w, const struct img *x)
{
	int rejected, n = 0, fixed[NWCSFIX], status = 0;
	char(*card)[CARD + 1] = weir_xalloc(x->nkey + 1, sizeof *card), *text = *card;
	struct wcsprm *wcs = NULL;
	regex_t r[PATTERNS];

	for (int i = 0; i < PATTERNS; i++)
		if (regcomp(&r[i], patterns[i], REG_EXTENDED))
			die("no memory for a pattern");
	for (size_t i = 0; i < x->nkey; i++)
		text += make_card(x, i, r, text) ? CARD : 0;
	for (int i = 0; i < PATTERNS; i++)
		regfree(&r[i]);
	if (text > *card)
		status =
		    wcspih(*card, (int)((text - *card) / CARD), WCSHDR_all, 0, &rejected, &n, &wcs);
	weir_free(card);
	if (!status && n) {
		wcsfix(7, NULL, wcs, fixed);
		status = wcsset(wcs);
	}
	if (status || !n || wcs->lng < 0 || wcs->lat < 0) {
		wcsvfree(&n, &wcs);
		return status ? wcs_errmsg[status] : NULL;
	}
	snprintf(w->names, sizeof w->names, " %s %s", wcs->lngtyp, wcs->lattyp);
	for (char *c = w->names; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	w->sky = wcs;
	/* ICRS and FK5 of 2000 differ by .02 arcseconds. */
	const bool icrs = !strcmp(wcs->radesys, "ICRS"), none = undefined(wcs->equinox) || icrs,
		   old = !strncmp(wcs->radesys, "FK4", 3) ||
			 (!*wcs->radesys && !none && wcs->equinox < 1984);
	snprintf(w->system, sizeof w->system, "%.4s %.4s %c%g", wcs->lngtyp, wcs->lattyp,
		 old ? 'B' : 'J',
		 !none ? wcs->equinox
		 : old ? 1950
		       : 2000);
	return NULL;
}

void
world_place_sky(const struct world *w, const double *pixel, double place[2])
{
	double world[IMG_MAXDIM], image[IMG_MAXDIM], phi, theta;
	int stat;
	const bool fails =
	    wcsp2s(w->sky, 1, w->sky->naxis, pixel, image, &phi, &theta, world, &stat);

	place[0] = fails ? NAN : world[w->sky->lng];
	place[1] = fails ? NAN : world[w->sky->lat];
}

void
world_pixel_sky(const struct world *w, const double place[2], double *pixel)
{
	double world[IMG_MAXDIM], image[IMG_MAXDIM], phi, theta;
	int stat;
	bool fails = false;

	if (w->sky->naxis > 2) /* what lies along the other axes */
		fails = wcsp2s(w->sky, 1, w->sky->naxis, pixel, image, &phi, &theta, world, &stat);
	world[w->sky->lng] = place[0];
	world[w->sky->lat] = place[1];
	fails |= !(place[0] - place[0] + place[1] - place[1] == 0) ||
		 wcss2p(w->sky, 1, w->sky->naxis, world, &phi, &theta, image, pixel, &stat);
	for (int i = 0; fails && i < w->sky->naxis; i++)
		pixel[i] = NAN;
}

void
world_close(struct world *w)
{
	int n = w->sky != NULL;

	wcsvfree(&n, &w->sky);
}
